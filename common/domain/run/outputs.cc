#include "common/domain/run/outputs.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/ascii.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::string_view kMark = "<<";

bool IsLetterOrLine(char c) { return IsLetter(c) || c == '_'; }

// Takes lines off the front of a text and counts them.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

  // nullopt at the end. The last line need not end with a line end.
  std::optional<std::string_view> Next() {
    if (left_.empty()) return std::nullopt;
    ++number_;
    const size_t end = left_.find('\n');
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    return line;
  }
  size_t number() const { return number_; }

 private:
  std::string_view left_;
  size_t number_ = 0;
};

// Takes the CR of a line that ends with CR LF off its end.
bool TakeCr(std::string_view& line) {
  const bool found = line.ends_with('\r');
  if (found) line.remove_suffix(1);
  return found;
}

// Reads the lines of a value up to the line `end`; nullopt if there is no such line. `with_cr`: the
// lines end with CR LF.
std::optional<std::string> ReadUntil(Lines& lines, std::string_view end, bool with_cr) {
  std::optional<std::string> value;
  while (auto line = lines.Next()) {
    if (with_cr) TakeCr(*line);
    if (*line == end) return value.value_or("");
    if (value) {
      value->push_back('\n');
      value->append(*line);
    } else {
      value.emplace(*line);
    }
  }
  return std::nullopt;
}

bool HasLine(std::string_view text, std::string_view wanted) {
  for (;;) {
    const size_t end = text.find('\n');
    if (text.substr(0, end) == wanted) return true;
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
}

Error TooLarge() {
  return {ErrorCode::kInvalid, fmt::format("more than {} bytes", kOutputsBytesMax)};
}

Status CheckText(std::string_view text) {
  if (!CountUtf8(text)) return {ErrorCode::kInvalid, "not UTF-8"};
  if (text.find('\0') != std::string_view::npos) return {ErrorCode::kInvalid, "a NUL character"};
  return {};
}

}  // namespace

bool IsOutputName(std::string_view name) {
  if (name.empty() || name.size() > kOutputNameBytesMax || !IsLetterOrLine(name[0])) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLetterOrLine(c) || IsDigit(c); });
}

size_t BytesOf(const Outputs& outputs) {
  size_t bytes = 0;
  for (const auto& [name, value] : outputs) bytes += name.size() + value.size();
  return bytes;
}

Status CheckOutputs(const Outputs& outputs) {
  if (outputs.size() > kOutputsMax) {
    return {ErrorCode::kInvalid, fmt::format("more than {} names", kOutputsMax)};
  }
  if (BytesOf(outputs) > kOutputsBytesMax) return TooLarge();
  for (const auto& [name, value] : outputs) {
    if (!IsOutputName(name)) return {ErrorCode::kInvalid, "a name that is not allowed"};
    CARILLON_TRY(CheckText(value));
  }
  return {};
}

Result<Outputs> ParseOutputs(std::string_view text) {
  if (text.size() > kOutputsBytesMax) return TooLarge();
  CARILLON_TRY(CheckText(text));
  Outputs outputs;
  Lines lines(text);
  while (auto line = lines.Next()) {
    const bool with_cr = TakeCr(*line);
    if (line->empty()) continue;
    const size_t number = lines.number();
    const size_t end = std::min(line->find('='), line->find(kMark));
    const std::string_view name = line->substr(0, end);
    if (end == std::string_view::npos || !IsOutputName(name)) {
      return {ErrorCode::kInvalid, fmt::format("line {} is not NAME=value", number)};
    }
    std::string value(line->substr(end + 1));
    if ((*line)[end] != '=') {
      const std::string_view word = line->substr(end + kMark.size());
      if (!IsOutputName(word)) {
        return {ErrorCode::kInvalid, fmt::format("line {} is not NAME<<WORD", number)};
      }
      std::optional<std::string> read = ReadUntil(lines, word, with_cr);
      if (!read) {
        return {ErrorCode::kInvalid,
                fmt::format("the value that begins in line {} does not end", number)};
      }
      value = *std::move(read);
    }
    outputs.insert_or_assign(std::string(name), std::move(value));
    if (outputs.size() > kOutputsMax) {
      return {ErrorCode::kInvalid, fmt::format("more than {} names", kOutputsMax)};
    }
  }
  return outputs;
}

std::string FormatOutput(std::string_view name, std::string_view value) {
  const bool in_one_line = value.find('\n') == std::string_view::npos && !value.ends_with('\r');
  if (in_one_line) return fmt::format("{}={}\n", name, value);
  // A number after the word, so that it stays short even if the value contains many such words.
  std::string word = "END";
  for (size_t i = 2; HasLine(value, word); ++i) word = fmt::format("END{}", i);
  return fmt::format("{}<<{}\n{}\n{}\n", name, word, value, word);
}

}  // namespace carillon
