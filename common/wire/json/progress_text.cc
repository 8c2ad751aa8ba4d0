#include "common/wire/json/progress_text.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Result<int> PercentOf(double value) {
  if (!(value >= 0 && value <= 100)) {
    return {ErrorCode::kInvalid, "the percentage is not between 0 and 100"};
  }
  return static_cast<int>(std::floor(value));
}

Result<RunProgress> FromJson(std::string_view text) {
  const nlohmann::json from = nlohmann::json::parse(text, nullptr, false);
  if (!from.is_object()) return {ErrorCode::kInvalid, "the text is not a JSON object"};
  RunProgress progress;
  const auto percent = from.find("percent");
  if (percent != from.end() && !percent->is_null()) {
    if (!percent->is_number()) return {ErrorCode::kInvalid, "\"percent\" is not a number"};
    CARILLON_ASSIGN_OR_RETURN(progress.percent, PercentOf(percent->get<double>()));
  }
  const auto said = from.find("text");
  if (said != from.end() && !said->is_null()) {
    if (!said->is_string()) return {ErrorCode::kInvalid, "\"text\" is not a string"};
    progress.text = said->get<std::string>();
  }
  if (!progress.percent && progress.text.empty()) {
    return {ErrorCode::kInvalid, "the JSON object has neither \"percent\" nor \"text\""};
  }
  return progress;
}

}  // namespace

Result<RunProgress> ParseProgress(std::string_view text) {
  if (!CountUtf8(text) || text.find('\0') != std::string_view::npos) {
    return {ErrorCode::kInvalid, "the text is not UTF-8"};
  }
  const std::string_view trimmed = Trimmed(text);
  if (trimmed.starts_with('{')) return FromJson(trimmed);
  double percent = 0;
  const char* const end = trimmed.data() + trimmed.size();
  const auto [next, error] =
      std::from_chars(trimmed.data(), end, percent, std::chars_format::fixed);
  if (error != std::errc() || (next != end && kBlank.find(*next) == std::string_view::npos)) {
    return {ErrorCode::kInvalid,
            "the text begins neither with a percentage nor with a JSON object"};
  }
  RunProgress progress;
  CARILLON_ASSIGN_OR_RETURN(progress.percent, PercentOf(percent));
  progress.text = Trimmed({next, static_cast<size_t>(end - next)});
  return progress;
}

std::string FormatProgress(const RunProgress& progress) {
  nlohmann::json to = nlohmann::json::object();
  if (progress.percent) to["percent"] = *progress.percent;
  if (!progress.text.empty()) to["text"] = progress.text;
  return to.dump() + "\n";
}

}  // namespace carillon
