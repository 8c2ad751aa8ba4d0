#include "scheduler/api/system_routes.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/executor_state.h"
#include "common/wire/job_json.h"
#include "scheduler/api/allowed_actions.h"
#include "scheduler/api/audit.h"
#include "scheduler/api/config_routes.h"
#include "scheduler/api/executor_filter.h"
#include "scheduler/api/fires.h"
#include "scheduler/api/heard_executors.h"
#include "scheduler/api/page.h"
#include "scheduler/api/request_parts.h"
#include "scheduler/api/short_hash.h"
#include "scheduler/api/sort.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kStoreIdMax = 128;  // characters

Outcome<ExecutorId> PathExecutorId(const Call& call) {
  const std::string& text = call.arguments.at(0);
  if (!IsExecutorId(text))
    return NotFound("There is no such executor; GET /api/executors lists them.");
  return ExecutorId(text);
}

// Only what people change is part of the tag: load and heartbeats move all the time.
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
  const ExecutorRecord executor = HeardExecutors(call.api.status.Read()).Latest(stored);
  HttpResponse response = JsonResponse(200, ShowExecutor(call, executor));
  response.headers.emplace_back("ETag", ExecutorTag(executor));
  return response;
}

Problem StaleExecutor(const Call& call, const ExecutorRecord& now) {
  Problem problem{.status = 412,
                  .code = "stale_version",
                  .detail = "The executor was changed since it was read; `current` shows it."};
  problem.members["current"] = ShowExecutor(call, now);
  problem.headers.emplace_back("ETag", ExecutorTag(now));
  return problem;
}

json ForTheAudit(const ExecutorRecord& executor) {
  return {{"enabled", executor.enabled}, {"draining", executor.draining}};
}

// Setting a flag is idempotent: an unknown outcome is simply tried once more.
using SetFlag = Result<ExecutorRecord> (ExecutorStore::*)(const ExecutorId&, bool);
Outcome<ExecutorRecord> Set(const Call& call, const ExecutorRecord& before, SetFlag set,
                            bool value) {
  auto changed = (call.api.executors.*set)(before.id, value);
  if (!changed.ok() && changed.code() == ErrorCode::kTimeout) {
    changed = (call.api.executors.*set)(before.id, value);
  }
  if (!changed.ok() && changed.code() == ErrorCode::kTimeout) {
    return OutcomeUnknown(
        "Whether the executor was changed is not known; trying again is "
        "harmless.",
        changed.error());
  }
  if (!changed.ok()) return changed.error();
  NoteChanges(call, ForTheAudit(before), ForTheAudit(*changed));
  call.api.nudge_executors();
  return std::move(changed).value();
}

// The executor that is acted on, as it is before.
Outcome<ExecutorRecord> ReadAction(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(ExecutorId id, PathExecutorId(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord before, call.api.executors.GetExecutor(id));
  return before;
}

// Labels follow the rules of a job's labels.
Outcome<std::map<std::string, std::string>> ReadLabels(const json& labels) {
  CARILLON_ASSIGN_OR_RETURN(
      ParsedJob parsed,
      carillon::ParseJob({{"name", "labels"}, {"type", "noop"}, {"labels", labels}}));
  return std::move(parsed.definition.labels);
}

// Those that are heard move all the time: they stand beside each other, so that none is passed by
// while the pages are turned.
constexpr Duration kHeardLately = 10s;

// Where an executor stands in a list, as text: also the cursor behind it. `begun`: when the first
// page was asked for.
std::string PlaceOf(const ExecutorRecord& executor, WallTime begun, bool by_heartbeat) {
  if (!by_heartbeat) return executor.id.value();
  const WallTime heard = std::min(executor.last_heartbeat, begun - kHeardLately);
  return fmt::format("{:020} {:020} {}", ToUnixMicros(begun), ToUnixMicros(heard),
                     executor.id.value());
}

// nullopt: the cursor is not one of PlaceOf.
std::optional<WallTime> BegunOf(const std::string& cursor) {
  const auto micros = ParseCursor(cursor.substr(0, cursor.find(' ')));
  return micros && *micros <= INT64_MAX
             ? std::optional(FromUnixMicros(static_cast<int64_t>(*micros)))
             : std::nullopt;
}

double Milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1000.0; }

struct OwnedSegments {
  json list = json::array();
  std::map<std::string, int64_t> counts;
};

OwnedSegments DescribeSegments(const std::vector<SegmentRecord>& segments) {
  OwnedSegments owned;
  for (const SegmentRecord& record : segments) {
    const std::string& owner = record.owner.value();
    owned.list.push_back({{"segment", record.segment.value()},
                          {"owner", owner.empty() ? json(nullptr) : json(owner)},
                          {"epoch", record.epoch.value()}});
    if (!owner.empty()) ++owned.counts[owner];
  }
  return owned;
}

// `owned` is null while it is not known.
json DescribeMembers(const ClusterView& view, const OwnedSegments* owned) {
  json members = json::array();
  for (const ClusterMember& member : view.members) {
    json count = nullptr;
    if (owned != nullptr) {
      const auto found = owned->counts.find(member.id.value());
      count = found == owned->counts.end() ? 0 : found->second;
    }
    members.push_back(
        {{"id", member.id.value()},
         {"address", member.address},
         {"owned_segments", std::move(count)},
         {"clock_offset_ms",
          member.clock_offset ? json(Milliseconds(*member.clock_offset)) : json(nullptr)},
         {"version", member.version.empty() ? json(nullptr) : json(member.version)},
         {"ops_url", member.ops_url.empty() ? json(nullptr) : json(member.ops_url)},
         {"paused", member.paused ? json(*member.paused) : json(nullptr)}});
  }
  return members;
}

json CountByState(const std::vector<ExecutorRecord>& executors) {
  json counts = json::object();
  for (const ExecutorState state : {ExecutorState::kOnline, ExecutorState::kUnhealthy,
                                    ExecutorState::kLost, ExecutorState::kOffline}) {
    counts[std::string(Name(state))] = std::count_if(
        executors.begin(), executors.end(), [&](const auto& e) { return e.state == state; });
  }
  return counts;
}

json NumberOrNull(const std::optional<int64_t>& number) {
  return number ? json(*number) : json(nullptr);
}

// Members read all results and logs, executors a partition of the tasks each: of those the one that
// is furthest behind.
json DescribeLag(const ClusterView& view) {
  const auto of = [&view](std::string_view topic) {
    const auto found = view.topics.find(std::string(topic));
    return NumberOrNull(found == view.topics.end() ? std::nullopt : found->second.behind);
  };
  std::optional<int64_t> tasks;
  for (const ExecutorRecord& executor : view.executors) {
    if (executor.state == ExecutorState::kOnline) tasks = std::max(tasks, executor.tasks_behind);
  }
  return {{"tasks", NumberOrNull(tasks)}, {"results", of(kResultsTopic)}, {"logs", of(kLogsTopic)}};
}

json DescribeTrust(const StoreTrust& trust) {
  const bool accepted = trust.accepted != WallTime{};
  return {{"store_id", trust.store_id},
          {"server_id", trust.server_id},
          {"mark", trust.mark},
          {"accepted_at", accepted ? json(FormatRfc3339(trust.accepted)) : json(nullptr)}};
}

json DescribeStanding(const StoreStanding& standing) {
  json store = {{"state", std::string(Name(standing.state))},
                {"since", nullptr},
                {"reason", nullptr},
                {"detail", nullptr},
                {"trusted", nullptr},
                {"seen", nullptr}};
  if (standing.since != WallTime{}) store["since"] = FormatRfc3339(standing.since);
  if (standing.trusted) store["trusted"] = DescribeTrust(*standing.trusted);
  if (standing.seen) {
    store["seen"] = {{"store_id", standing.seen->store_id},
                     {"server_id", standing.seen->server_id},
                     {"mark", standing.seen->mark}};
  }
  if (standing.state != StoreState::kHeld) return store;
  store["reason"] = std::string(Name(*standing.doubt));
  store["detail"] = standing.reason + ". Check the store, then: carillon system accept-store";
  return store;
}

}  // namespace

Reply ListExecutors(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"q", "sort", "page_size", "page_token"}, {"state", "label"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "executors"));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorFilter filter, ExecutorFilter::Read(query));
  CARILLON_ASSIGN_OR_RETURN(const auto sort,
                            ReadSort(query, {"executor_id", "last_heartbeat_time"}));
  CARILLON_ASSIGN_OR_RETURN(auto executors, call.api.executors.ListExecutors());
  const HeardExecutors heard(call.api.status.Read());
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
    places[PlaceOf(executor, begun, by_heartbeat)] = &executor;
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
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord executor, call.api.executors.GetExecutor(id));
  return ExecutorResponse(call, executor);
}

Reply PatchExecutor(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const ExecutorId id, PathExecutorId(call));
  CARILLON_ASSIGN_OR_RETURN(const EntityTags wanted, RequireIfMatch(call.request));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired, {"labels"}));
  if (!body.contains("labels")) return InvalidField("/labels", "missing", "Labels are needed.");
  CARILLON_ASSIGN_OR_RETURN(const auto labels, ReadLabels(body["labels"]));
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord before, call.api.executors.GetExecutor(id));
  if (!wanted.MatchesStrongly(ExecutorTag(before))) return StaleExecutor(call, before);
  const LabelEdit edit{.id = id, .labels = labels, .expected = before.labels};
  auto changed = call.api.executors.SetExecutorLabels(edit);
  if (!changed.ok() && changed.code() == ErrorCode::kTimeout) {
    changed = call.api.executors.SetExecutorLabels(edit);  // idempotent
  }
  if (!changed.ok() && changed.code() == ErrorCode::kTimeout) {
    return OutcomeUnknown("Whether the labels were stored is not known; GET the executor.",
                          changed.error());
  }
  if (!changed.ok() && changed.code() == ErrorCode::kConflict) {
    CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord now, call.api.executors.GetExecutor(id));
    return StaleExecutor(call, now);
  }
  if (!changed.ok()) return changed.error();
  NoteChanges(call, {{"labels", before.labels}}, {{"labels", labels}});
  call.api.nudge_executors();
  return ExecutorResponse(call, *changed);
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

namespace {

constexpr size_t kActorBytesMax = 1000;
constexpr size_t kActionBytesMax = 64;

// Others come to be known in time: of one that nobody has heard of there are no records.
bool IsAction(std::string_view text) {
  return !text.empty() && text.size() <= kActionBytesMax && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || c == '.' || c == '_';
  });
}

// What changed, as it was recorded; null where nothing was.
json ReadChanges(const std::string& text) {
  json changes = json::parse(text, nullptr, false);
  return changes.is_array() ? changes : json(nullptr);
}

}  // namespace

Reply ListAudit(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request,
                                                           {"object_id", "actor", "since", "until",
                                                            "sort", "page_size", "page_token"},
                                                           {"action"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "audit"));
  CARILLON_ASSIGN_OR_RETURN(const auto sort, ReadSort(query, {"time"}));
  AuditFilter filter{.object_id = query.Text("object_id").value_or(""),
                     .actor = query.Text("actor").value_or(""),
                     .actions = query.All("action"),
                     .oldest_first = sort && !sort->descending,
                     .limit = page.size() + 1};
  if (filter.actor.size() > kActorBytesMax) {
    return InvalidField("?actor", "too_long", "This may have at most 1,000 bytes.");
  }
  for (const std::string& action : filter.actions) {
    if (!IsAction(action)) {
      return InvalidField("?action", "bad_value", "This is not an action, such as job.pause.");
    }
  }
  CARILLON_ASSIGN_OR_RETURN(filter.since, query.Time("since"));
  CARILLON_ASSIGN_OR_RETURN(filter.until, query.Time("until"));
  if (!page.cursor().empty()) {
    const auto last = ParseCursor(page.cursor());
    if (!last) return BadPageToken();
    (filter.oldest_first ? filter.after_id : filter.before_id) = *last;
  }
  CARILLON_ASSIGN_OR_RETURN(const auto records, call.api.admin.ListAudit(filter));
  for (const AuditRecord& record : records) {
    const json item = {{"id", std::to_string(record.id)},
                       {"time", FormatRfc3339(record.at)},
                       {"actor", record.actor},
                       {"action", record.action},
                       {"object_id", record.object_id},
                       {"reason", record.reason.empty() ? json(nullptr) : json(record.reason)},
                       {"trace_id", record.trace_id},
                       {"changes", ReadChanges(record.changes_json)}};
    if (!page.Add(item, std::to_string(record.id))) break;
  }
  return page.Finish(false, [&] { return call.api.counts.CountAudit(filter); });
}

// What only the store knows is null while it does not answer, and `unknown_since` says from when.
Reply SystemStatus(const Call& call) {
  const ClusterView view = call.api.status.Read();
  const StoreSight sight = call.store.Look();
  json status = {
      {"leader", view.leader ? json(view.leader->value()) : json(nullptr)},
      {"members", DescribeMembers(view, nullptr)},
      {"segments", nullptr},
      // Those that report to this member are known to it.
      {"executors", CountByState(view.executors)},
      {"runs_pending", nullptr},
      {"runs_running", nullptr},
      {"oldest_overdue_ms", nullptr},
      {"late_ms", {{"p50", Milliseconds(view.late_p50)}, {"p99", Milliseconds(view.late_p99)}}},
      {"lag", DescribeLag(view)},
      {"store_reachable", sight.view.has_value()},
      {"store", DescribeStanding(call.api.store_standing())},
      {"unknown_since", nullptr},
      {"paused", PauseToJson(PauseOf(call.api.settings.Current()))},
      {"version", call.api.version}};
  if (!sight.view) {
    status["unknown_since"] = FormatRfc3339(sight.known_at);
    return JsonResponse(200, status);
  }
  OwnedSegments owned = DescribeSegments(sight.view->segments);
  status["members"] = DescribeMembers(view, &owned);
  status["segments"] = std::move(owned.list);
  status["executors"] = CountByState(sight.view->executors);
  status["runs_pending"] = sight.view->counts.pending;
  status["runs_running"] = sight.view->counts.running;
  status["oldest_overdue_ms"] = Milliseconds(view.oldest_overdue);
  return JsonResponse(200, status);
}

// The body names what the caller was shown, so that nothing else is accepted than that.
Reply AcceptStore(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const json body,
      ReadObject(call.request, Body::kRequired, {"store_id", "server_id", "mark", "reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  StoreIdentity shown;
  CARILLON_ASSIGN_OR_RETURN(shown.store_id, TextMember(body, "store_id", kStoreIdMax));
  CARILLON_ASSIGN_OR_RETURN(shown.server_id, TextMember(body, "server_id", kStoreIdMax));
  CARILLON_ASSIGN_OR_RETURN(const auto mark,
                            NumberMember(body, "mark", {.low = 0, .high = INT64_MAX}));
  if (shown.store_id.empty() || shown.server_id.empty() || !mark) {
    return InvalidField(shown.store_id.empty()    ? "/store_id"
                        : shown.server_id.empty() ? "/server_id"
                                                  : "/mark",
                        "missing",
                        "store_id, server_id and mark are needed, as the status shows them.");
  }
  shown.mark = static_cast<uint64_t>(*mark);
  const Status accepted = call.api.accept_store(shown);
  if (!accepted.ok() && accepted.code() == ErrorCode::kTimeout) {
    return OutcomeUnknown("Whether the store was accepted is not known; look at the status.",
                          accepted.error());
  }
  if (!accepted.ok()) return accepted.error();
  return JsonResponse(200, DescribeStanding(call.api.store_standing()));
}

}  // namespace carillon::scheduler
