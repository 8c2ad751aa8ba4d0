#include "scheduler/api/jobs/waits_preview.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/run_id.h"
#include "common/domain/schedule/zone.h"
#include "common/wire/json/job/waits_json.h"
#include "scheduler/api/edits/wait_check.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/explain/upstream_answers.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json WaitErrorOf(const Error& error) {
  return {{"pointer", error.pointer}, {"code", "invalid"}, {"detail", error.message}};
}

Outcome<WallTime> ReadFireTime(const Call& call, const json& body) {
  CARILLON_ASSIGN_OR_RETURN(const std::string text,
                            TextMember(body, "fire_time", kReasonCharactersMax));
  if (text.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
    return now;
  }
  const auto time = ParseRfc3339(text);
  if (!time.ok()) {
    return InvalidField("/fire_time", "bad_time", "Must be an RFC 3339 time from 1970 to 4253.");
  }
  return *time;
}

struct WaitsAsked {
  JobDefinition job;  // only its waits
  WallTime fire;
};

Result<WaitsAsked> ReadWaitsAsked(const json& body, WallTime fire, const std::string& zone) {
  WaitsAsked asked{.job = {}, .fire = fire};
  asked.job.time_zone = zone;
  asked.job.wait_limit_s = kWaitLimitMaxS;  // of no interest here
  CARILLON_TRY(ReadWaits(body.value("waits_for", json()), "/waits_for", asked.job.waits_for));
  if (asked.job.waits_for.empty()) {
    return Error{ErrorCode::kInvalid, "has no entries", "/waits_for"};
  }
  CARILLON_TRY(ValidateWaits(asked.job));
  if (const auto known = Zone::Load(zone); !known.ok()) {
    return Error{ErrorCode::kInvalid, known.error().message, "/time_zone"};
  }
  for (const UpstreamWait& wait : asked.job.waits_for) {
    const auto window = WindowOf(wait.window, fire, zone);
    if (!window.ok()) return Error{ErrorCode::kInvalid, window.error().message, "/fire_time"};
  }
  return asked;
}

// The sentence of a run that waits, without the limit, which only a run has.
std::string WaitDetail(const UpstreamWait& wait, const WaitAnswer& answer, WallTime fire,
                       const std::string& zone) {
  constexpr std::string_view kBegin = "Waits for ";
  std::string text = WaitSentence(wait, answer, {fire}, zone);
  text.resize(text.rfind(", until "));
  if (answer.verdict != WaitVerdict::kMet) return text + ".";
  return text.substr(kBegin.size()) + " has come.";
}

json WaitToJson(const AnsweredWait& answered, const WaitsAsked& asked) {
  const auto& [wait, found, answer] = answered;
  const FireWindow& window = found.value();
  const bool ahead = window.ahead_until > window.until;
  json one = {{"job", wait.job.value()},
              {"in", wait.in.empty() ? json() : json(wait.in.value())},
              {"from", FormatRfc3339(window.from)},
              {"until", FormatRfc3339(window.until)},
              {"ahead_until", ahead ? json(FormatRfc3339(window.ahead_until)) : json()},
              {"fire_time", answer.fire == WallTime{} ? json() : json(FormatRfc3339(answer.fire))},
              {"run_id", nullptr},
              {"state", nullptr},
              {"met", answer.verdict == WaitVerdict::kMet},
              {"detail", WaitDetail(wait, answer, asked.fire, asked.job.time_zone)}};
  if (answer.run) {
    one["run_id"] = EncodeRunId(answer.run->key);
    one["state"] = Name(answer.run->state);
  }
  return one;
}

}  // namespace

Reply PreviewWaits(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const json body,
      ReadObject(call.request, Body::kRequired, {"waits_for", "time_zone", "fire_time", "job_id"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string given,
                            TextMember(body, "time_zone", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const std::string own,
                            TextMember(body, "job_id", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime fire, ReadFireTime(call, body));
  if (!body.contains("waits_for")) {
    return InvalidField("/waits_for", "missing", "This field is required.");
  }
  json answer = {{"valid", false},
                 {"errors", json::array()},
                 {"fire_time", FormatRfc3339(fire)},
                 {"items", json::array()}};
  const auto asked = ReadWaitsAsked(body, fire, given.empty() ? JobDefinition{}.time_zone : given);
  if (!asked.ok()) {
    answer["errors"].push_back(WaitErrorOf(asked.error()));
    return JsonResponse(200, answer);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto mistakes,
                            FindWaitMistakes(call, JobId(own), nullptr, asked->job, {}));
  for (const FieldError& one : mistakes) {
    answer["errors"].push_back(
        {{"pointer", one.pointer}, {"code", one.code}, {"detail", one.detail}});
  }
  CARILLON_ASSIGN_OR_RETURN(
      const auto answered,
      AnswerWaits(call.stores.upstream, asked->job.waits_for, fire, asked->job.time_zone));
  for (const AnsweredWait& one : answered) answer["items"].push_back(WaitToJson(one, *asked));
  answer["valid"] = mistakes.empty();
  return JsonResponse(200, answer);
}

}  // namespace carillon::scheduler
