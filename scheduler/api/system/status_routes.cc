#include "scheduler/api/system/status_routes.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/domain/executor_state.h"
#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/system/config_routes.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kStoreIdMax = 128;  // characters
// The leader publishes a letter within seconds, unless the bus does not take it.
constexpr Duration kLettersLateAfter = 1min;

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

// `owned` is null if the owners are unknown.
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

// Members read all results and logs. Each executor reads one partition of the tasks, so for tasks
// the largest lag of an executor is shown.
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

json DescribeUnplanned(const std::vector<UnplannedJob>& jobs) {
  json list = json::array();
  for (const UnplannedJob& job : jobs) {
    list.push_back({{"job_id", job.job_id.value()},
                    {"job_name", job.name},
                    {"fire_time", FormatRfc3339(job.fire)}});
  }
  return list;
}

json DescribeOverload(const std::optional<Overload>& overload) {
  if (!overload) return nullptr;
  return {{"late_s", overload->level.late / 1s},
          {"below", overload->level.below},
          {"since", FormatRfc3339(overload->since)},
          {"shed", overload->shed}};
}

json DescribeLetters(const Call& call, const std::optional<LetterBacklog>& letters) {
  if (!letters) return nullptr;
  const auto now = call.api.cluster_now();
  if (letters->waiting == 0 || !now.ok() || *now - letters->oldest < kLettersLateAfter) {
    return nullptr;
  }
  return {{"count", letters->waiting}, {"since", FormatRfc3339(letters->oldest)}};
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
                {"server", nullptr},
                {"trusted", nullptr},
                {"seen", nullptr}};
  if (standing.since != WallTime{}) store["since"] = FormatRfc3339(standing.since);
  if (standing.trusted) store["trusted"] = DescribeTrust(*standing.trusted);
  if (standing.seen) {
    if (!standing.seen->software.empty()) store["server"] = standing.seen->software;
    store["seen"] = {{"store_id", standing.seen->store_id},
                     {"server_id", standing.seen->server_id},
                     {"mark", standing.seen->mark}};
  }
  if (standing.state != StoreState::kHeld) return store;
  store["reason"] = std::string(Name(*standing.doubt));
  store["detail"] = standing.reason + ". Check the store, then run: carillon system accept-store";
  return store;
}

}  // namespace

// While the store does not answer, data from the store is null, and `unknown_since` is the start
// of this time.
Reply SystemStatus(const Call& call) {
  const ClusterView view = call.api.status.Read();
  const StoreSnapshot snapshot = call.services.probe.Look();
  json status = {
      {"leader", view.leader ? json(view.leader->value()) : json(nullptr)},
      {"members", DescribeMembers(view, nullptr)},
      {"segments", nullptr},
      // Executors with a link to this member are known without the store.
      {"executors", CountByState(view.executors)},
      {"runs_pending", nullptr},
      {"runs_running", nullptr},
      {"oldest_overdue_ms", nullptr},
      {"unplanned_jobs", nullptr},
      {"late_ms", {{"p50", Milliseconds(view.late_p50)}, {"p99", Milliseconds(view.late_p99)}}},
      {"lag", DescribeLag(view)},
      {"store_reachable", snapshot.view.has_value()},
      {"store", DescribeStanding(call.api.store_standing())},
      {"unknown_since", nullptr},
      {"paused", PauseToJson(PauseOf(call.api.settings.Current()))},
      {"overload", DescribeOverload(view.overload)},
      {"unpublished_letters", nullptr},
      {"version", call.api.version}};
  if (!snapshot.view) {
    status["unknown_since"] = FormatRfc3339(snapshot.known_at);
    return JsonResponse(200, status);
  }
  OwnedSegments owned = DescribeSegments(snapshot.view->segments);
  status["members"] = DescribeMembers(view, &owned);
  status["segments"] = std::move(owned.list);
  status["executors"] = CountByState(snapshot.view->executors);
  status["runs_pending"] = snapshot.view->counts.pending;
  status["runs_running"] = snapshot.view->counts.running;
  status["oldest_overdue_ms"] = Milliseconds(view.oldest_overdue);
  status["unpublished_letters"] = DescribeLetters(call, snapshot.view->letters);
  // While the cluster is paused, nothing is planned.
  status["unplanned_jobs"] =
      status["paused"].is_null() ? DescribeUnplanned(view.unplanned_jobs) : json::array();
  return JsonResponse(200, status);
}

// The body names the store that the caller was shown. So no other store is accepted.
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
    return InvalidField(
        shown.store_id.empty()    ? "/store_id"
        : shown.server_id.empty() ? "/server_id"
                                  : "/mark",
        "missing",
        "store_id, server_id and mark are required, as shown by GET /api/system/status.");
  }
  shown.mark = static_cast<uint64_t>(*mark);
  const Status accepted = call.api.accept_store(shown);
  if (IsUnknown(accepted)) {
    return OutcomeUnknown(
        "It is unknown whether the store was accepted. Check GET /api/system/status.",
        accepted.error());
  }
  if (!accepted.ok()) return accepted.error();
  return JsonResponse(200, DescribeStanding(call.api.store_standing()));
}

}  // namespace carillon::scheduler
