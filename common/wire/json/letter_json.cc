#include "common/wire/json/letter_json.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

json LetterTime(WallTime time) {
  return time == WallTime{} ? json(nullptr) : json(FormatRfc3339(time));
}

json LetterText(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

}  // namespace

std::string LetterToText(const LetterToPublish& published) {
  const DeadLetter& letter = published.letter;
  json labels = json::object();
  for (const auto& [name, value] : published.labels) labels[name] = value;
  return JsonToText(
      {{"version", kLetterVersion},
       {"id", letter.id},
       {"created_at", FormatRfc3339(letter.created)},
       {"job_id", letter.job_id.value()},
       {"job_name", published.job_name},
       {"namespace", published.name_space},
       {"labels", std::move(labels)},
       {"run_id", EncodeRunId(letter.key)},
       {"fire_time", FormatRfc3339(letter.key.fire)},
       {"state", Name(letter.state)},
       {"reason", LetterText(letter.reason)},
       {"attempts", letter.attempts},
       {"error", LetterText(published.error)},
       {"exit_code", published.exit_code ? json(*published.exit_code) : json(nullptr)},
       {"executor_id", LetterText(published.executor.value())},
       {"started_at", LetterTime(published.started)},
       {"ended_at", LetterTime(published.ended)}});
}

}  // namespace carillon
