#include "scheduler/api/runs/shard_routes.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/domain/job/fan_out.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/reasons.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json TimeOfPart(WallTime time) {
  return time == WallTime{} || !IsTime(time) ? json(nullptr) : json(FormatRfc3339(time));
}

json PartToJson(const RunPart& part) {
  const ExecutorId& executor = part.executor.empty() ? part.pinned_executor : part.executor;
  // Executors report the start of a process together with its end.
  const bool runs = part.state == RunState::kRunning && part.started == WallTime{};
  return {{"index", IndexOfPart(part.key)},
          {"run_id", EncodeRunId(part.key)},
          {"state", Name(part.state)},
          {"attempt", part.attempt},
          {"reason", part.reason.empty() ? json(nullptr) : json(part.reason)},
          {"executor_id", executor.empty() ? json(nullptr) : json(executor.value())},
          {"due_at", TimeOfPart(part.due)},
          {"claimed_at", TimeOfPart(part.claimed)},
          {"started_at", TimeOfPart(runs ? part.claimed : part.started)},
          {"ended_at", TimeOfPart(part.ended)}};
}

// True for a run that has ended without parts, and without an executor.
bool EndedBeforeItBegan(const RunDetail& run) {
  const bool ran = IsPart(run.row.key) || IsInParts(run.row) || !run.row.executor.empty();
  return IsFinal(run.row.state) && !ran && run.job_type != JobType::kWorkflow;
}

Problem NoShards(const RunDetail& run) {
  std::string detail =
      fmt::format("Run {} does not fan out, or has not begun.", EncodeRunId(run.row.key));
  if (EndedBeforeItBegan(run)) {
    detail = fmt::format("Run {} has no shards: it was {} before it began, {}.",
                         EncodeRunId(run.row.key), Name(run.row.state),
                         run.result.reason.empty() ? "without a reason" : run.result.reason);
  } else if (run.kept) {
    detail = fmt::format("Run {} is older than the retention: its parts are no longer stored.",
                         EncodeRunId(run.row.key));
  } else if (IsPart(run.row.key)) {
    detail = fmt::format("Run {} is a part of run {}: ask for the parts of that run.",
                         EncodeRunId(run.row.key), EncodeRunId(OwnRunOf(run.row.key)));
  }
  return {.status = 422, .code = "no_shards", .detail = std::move(detail)};
}

}  // namespace

bool HadZeroShards(const RunDetail& run) {
  return EndedBeforeItBegan(run) && run.result.reason == reason::kZeroShards;
}

Reply GetRunShards(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(key));
  std::vector<RunPart> parts;
  if (!HadZeroShards(run)) {
    if (run.kept || !IsInParts(run.row)) return NoShards(run);
    CARILLON_ASSIGN_OR_RETURN(parts, call.stores.runs.ListParts(key));
    if (parts.empty()) return NoShards(run);  // its day is gone
  }
  json shards = json::array();
  for (const RunPart& part : parts) shards.push_back(PartToJson(part));
  return JsonResponse(200, {{"run_id", EncodeRunId(key)},
                            {"job_id", run.job_id.value()},
                            {"state", Name(run.row.state)},
                            {"shard_total", parts.size()},
                            {"shards", std::move(shards)}});
}

Outcome<std::optional<PartChoice>> ReadPartChoice(const json& body) {
  const auto given = body.find("shards");
  if (given == body.end() || given->is_null()) return std::optional<PartChoice>();
  if (*given == "failed") return std::optional(PartChoice{});
  if (*given == "all") return std::optional(PartChoice{.which = PartChoice::Which::kAll});
  if (!given->is_array() || given->empty() || given->size() > kFanOutMax) {
    return InvalidField("/shards", "bad_value",
                        "Must be failed, all or a list of at most 1,000 indexes.");
  }
  PartChoice choice{.which = PartChoice::Which::kNamed};
  std::set<uint32_t> seen;
  for (size_t i = 0; i < given->size(); ++i) {
    const json& index = (*given)[i];
    const std::string place = fmt::format("/shards/{}", i);
    if (!index.is_number_unsigned() || index.get<uint64_t>() >= kFanOutMax) {
      return InvalidField(place, "bad_value", "Must be an index from 0 to 999.");
    }
    choice.indexes.push_back(index.get<uint32_t>());
    if (!seen.insert(choice.indexes.back()).second) {
      return InvalidField(place, "repeated", "This index appears more than once.");
    }
  }
  return std::optional(std::move(choice));
}

bool HasCounts(const RunDetail& run) { return IsInParts(run.row) && !run.kept; }

Outcome<std::map<RunKey, json>> CountsOfParts(const Call& call, const std::vector<RunKey>& owns) {
  std::map<RunKey, json> shown;
  if (owns.empty()) return shown;
  CARILLON_ASSIGN_OR_RETURN(const auto counted, call.stores.runs.CountParts(owns));
  for (const auto& [key, counts] : counted) {
    json& by_state = shown[key];
    for (const auto& [state, count] : counts) by_state[std::string(Name(state))] = count;
  }
  return shown;
}

bool MayRetryParts(const RunDetail& own, bool job_deleted) {
  if (job_deleted || own.job_type == JobType::kWorkflow) return false;
  if (IsFinal(own.row.state)) return true;
  return own.row.state == RunState::kRunning && !own.row.cancel_requested;
}

}  // namespace carillon::scheduler
