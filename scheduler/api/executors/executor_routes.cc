#include "scheduler/api/executors/executor_routes.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/executors/executor_filter.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/http/short_hash.h"
#include "scheduler/api/http/sort.h"
#include "scheduler/explain/live_executors.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

Outcome<ExecutorId> PathExecutorId(const Call& call) {
  const std::string& text = call.arguments.at(0);
  if (!IsExecutorId(text)) return NotFound("No such executor. GET /api/executors lists them.");
  return ExecutorId(text);
}

// The ETag covers only the fields that people change. Load and heartbeats change too often.
std::string ExecutorTag(const ExecutorRecord& executor) {
  const json part = {
      {"enabled", executor.enabled}, {"draining", executor.draining}, {"labels", executor.labels}};
  return "\"" + ShortHash(part.dump()) + "\"";
}

json ShowExecutor(const Call& call, const ExecutorRecord& executor) {
  json shown = ExecutorToJson(executor);
  shown["allowed_actions"] = AllowedActions(call, "executor");
  return shown;
}

HttpResponse ExecutorResponse(const Call& call, const ExecutorRecord& stored) {
  const ExecutorRecord executor = LiveExecutors(call.api.status.Read()).Latest(stored);
  json shown = ShowExecutor(call, executor);
  shown["report"] = HostChecksToJson(executor.checks);
  HttpResponse response = JsonResponse(200, shown);
  response.headers.emplace_back("ETag", ExecutorTag(executor));
  return response;
}

Problem StaleExecutor(const Call& call, const ExecutorRecord& now) {
  Problem problem{.status = 412,
                  .code = "stale_version",
                  .detail = "The executor has changed since it was read. Review `current`."};
  problem.members["current"] = ShowExecutor(call, now);
  problem.headers.emplace_back("ETag", ExecutorTag(now));
  return problem;
}

json ForTheAudit(const ExecutorRecord& executor) {
  return {{"enabled", executor.enabled}, {"draining", executor.draining}};
}

// Setting a flag is idempotent, so it is tried once more after an unknown outcome.
using SetFlag = Result<ExecutorRecord> (ExecutorStore::*)(const ExecutorId&, bool);
Outcome<ExecutorRecord> Set(const Call& call, const ExecutorRecord& before, SetFlag set,
                            bool value) {
  auto changed = RetryIfUnknown([&] { return (call.stores.executors.*set)(before.id, value); });
  if (IsUnknown(changed)) {
    return OutcomeUnknown("It is unknown whether the executor was changed. Retrying is safe.",
                          changed.error());
  }
  if (!changed.ok()) return changed.error();
  NoteChanges(call, ForTheAudit(before), ForTheAudit(*changed));
  call.api.nudge_executors();
  return std::move(changed).value();
}

// Reads the body, and returns the executor as it is before the action.
Outcome<ExecutorRecord> ReadAction(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(ExecutorId id, PathExecutorId(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord before, call.stores.executors.GetExecutor(id));
  return before;
}

// Labels follow the rules of a job's labels.
Outcome<std::map<std::string, std::string>> ReadLabels(const json& labels) {
  CARILLON_ASSIGN_OR_RETURN(
      ParsedJob parsed,
      carillon::ParseJob({{"name", "labels"}, {"type", "noop"}, {"labels", labels}}));
  return std::move(parsed.definition.labels);
}

// Heartbeat times change constantly. A list can be ordered by them. In such a list, executors
// whose last heartbeat was at most this old at the first page count as equal. So no page
// skips an executor. The store has some of them 45 s late.
constexpr Duration kRecentHeartbeat = 90s;

// Returns the position of an executor in a list, as text. The position is also the cursor that
// continues after the executor. `begun` is the time of the first page.
std::string CursorOf(const ExecutorRecord& executor, WallTime begun, bool by_heartbeat) {
  if (!by_heartbeat) return executor.id.value();
  const WallTime heard = std::min(executor.last_heartbeat, begun - kRecentHeartbeat);
  return fmt::format("{:020} {:020} {}", ToUnixMicros(begun), ToUnixMicros(heard),
                     executor.id.value());
}

// Reads the time of the first page from a cursor; nullopt if CursorOf did not make the cursor.
std::optional<WallTime> BegunOf(const std::string& cursor) {
  const auto micros = ParseCursor(cursor.substr(0, cursor.find(' ')));
  return micros && *micros <= INT64_MAX
             ? std::optional(FromUnixMicros(static_cast<int64_t>(*micros)))
             : std::nullopt;
}

}  // namespace

Reply ListHandlers(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  static_cast<void>(query);  // there must be no parameters
  CARILLON_ASSIGN_OR_RETURN(auto executors, call.stores.executors.ListExecutors());
  const LiveExecutors heard(call.api.status.Read());
  std::map<std::string, json> handlers;
  for (ExecutorRecord& stored : executors) {
    const ExecutorRecord executor = heard.Latest(std::move(stored));
    const bool usable =
        executor.state == ExecutorState::kOnline && executor.enabled && !executor.draining;
    if (!usable) continue;
    for (const auto& [name, slots] : executor.handlers) {
      json& handler =
          handlers
              .try_emplace(
                  name,
                  json{{"name", name}, {"executors", json::array()}, {"slots", 0}, {"free", 0}})
              .first->second;
      handler["executors"].push_back(executor.id.value());
      handler["slots"] = handler["slots"].get<int>() + slots.slots;
      handler["free"] = handler["free"].get<int>() + slots.free;
    }
  }
  json items = json::array();
  for (auto& [name, handler] : handlers) items.push_back(std::move(handler));
  return JsonResponse(200, {{"items", std::move(items)}});
}

Reply ListExecutors(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"q", "sort", "page_size", "page_token"}, {"state", "label"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "executors"));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorFilter filter, ExecutorFilter::Read(query));
  CARILLON_ASSIGN_OR_RETURN(const auto sort,
                            ReadSort(query, {"executor_id", "last_heartbeat_time"}));
  CARILLON_ASSIGN_OR_RETURN(auto executors, call.stores.executors.ListExecutors());
  const LiveExecutors heard(call.api.status.Read());
  for (ExecutorRecord& executor : executors) executor = heard.Latest(std::move(executor));
  std::erase_if(executors, [&](const auto& executor) { return !filter.Matches(executor); });
  const bool by_heartbeat = sort && sort->by == "last_heartbeat_time";
  const bool descending = sort && sort->descending;
  WallTime begun = call.api.clock.Wall();
  if (by_heartbeat && !page.cursor().empty()) {
    const auto kept = BegunOf(page.cursor());
    if (!kept) return BadPageToken();
    begun = *kept;
  }
  std::map<std::string, const ExecutorRecord*> places;
  for (const ExecutorRecord& executor : executors) {
    places[CursorOf(executor, begun, by_heartbeat)] = &executor;
  }
  const auto add = [&](const auto& place) {
    return page.Add(ShowExecutor(call, *place.second), place.first);
  };
  if (descending) {
    auto it = page.cursor().empty() ? places.end() : places.lower_bound(page.cursor());
    while (it != places.begin() && add(*--it)) {
    }
  } else {
    auto it = places.upper_bound(page.cursor());
    while (it != places.end() && add(*it)) ++it;
  }
  return page.Finish(false, [&] { return CountOf(executors.size()); });
}

Reply GetExecutor(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const ExecutorId id, PathExecutorId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord executor, call.stores.executors.GetExecutor(id));
  return ExecutorResponse(call, executor);
}

Reply PatchExecutor(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const ExecutorId id, PathExecutorId(call));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags wanted, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired, {"labels"}));
  if (!body.contains("labels")) return InvalidField("/labels", "missing", "Labels are required.");
  CARILLON_ASSIGN_OR_RETURN(const auto labels, ReadLabels(body["labels"]));
  return WriteMatching(wanted, [&]() -> Reply {
    CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord before, call.stores.executors.GetExecutor(id));
    if (!wanted.MatchesStrongly(ExecutorTag(before))) return StaleExecutor(call, before);
    const LabelEdit edit{.id = id, .labels = labels, .expected = before.labels};
    const auto changed =
        RetryIfUnknown([&] { return call.stores.executors.SetExecutorLabels(edit); });
    if (IsUnknown(changed)) {
      return OutcomeUnknown(
          "It is unknown whether the labels were stored. GET the executor before retrying.",
          changed.error());
    }
    if (!changed.ok() && changed.code() == ErrorCode::kConflict) {
      CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord now, call.stores.executors.GetExecutor(id));
      return StaleExecutor(call, now);
    }
    if (!changed.ok()) return changed.error();
    NoteChanges(call, {{"labels", before.labels}}, {{"labels", labels}});
    call.api.nudge_executors();
    return ExecutorResponse(call, *changed);
  });
}

Reply EnableExecutor(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord before, ReadAction(call));
  CARILLON_TRY(Set(call, before, &ExecutorStore::SetExecutorDraining, false));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord executor,
                            Set(call, before, &ExecutorStore::SetExecutorEnabled, true));
  return ExecutorResponse(call, executor);
}

Reply DisableExecutor(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord before, ReadAction(call));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord executor,
                            Set(call, before, &ExecutorStore::SetExecutorEnabled, false));
  return ExecutorResponse(call, executor);
}

Reply DrainExecutor(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord before, ReadAction(call));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord executor,
                            Set(call, before, &ExecutorStore::SetExecutorDraining, true));
  return ExecutorResponse(call, executor);
}

}  // namespace carillon::scheduler
