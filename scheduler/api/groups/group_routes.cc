#include "scheduler/api/groups/group_routes.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "common/domain/job/job.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/problem.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kRunsShown = 100;  // holders, and queued runs

json GroupToJson(const Call& call, const Group& group) {
  return {{"name", group.name},
          {"limit", group.limit},
          {"per_s", group.per / 1s},
          {"running", group.running},
          {"cooling", group.cooling},
          {"next_start_time", group.next_cool ? json(FormatRfc3339(*group.next_cool)) : json()},
          {"queued", group.queued},
          {"jobs", group.jobs},
          {"update_time", FormatRfc3339(group.updated)},
          {"allowed_actions", AllowedActions(call, "group")}};
}

json RunToJson(const GroupRun& run) {
  return {{"run_id", EncodeRunId(run.row.key)},
          {"job_id", run.job_id.value()},
          {"job_name", run.job_name},
          {"since", FormatRfc3339(run.since)}};
}

// As the audit log shows them.
json Values(const Group& group) {
  json values = {{"limit", group.limit}};
  if (group.per > Duration{}) values["per_s"] = group.per / 1s;
  return values;
}

Problem NoSuchGroup() { return NotFound("No such concurrency group. GET /api/groups lists them."); }

// A change waits only briefly for the claims that are being written, because later claims of the
// group wait behind it.
Problem ChangeFailed(const Error& error) {
  Problem problem = ToProblem(error);
  if (error.code == ErrorCode::kUnavailable) {
    problem.detail =
        "The group was not changed: the database is unavailable, or a run of the group is being "
        "started at this moment. Retry shortly.";
  }
  return problem;
}

Outcome<std::string> PathGroupName(const Call& call) {
  const std::string& name = call.arguments.at(0);
  if (!IsGroupName(name)) return NoSuchGroup();
  return name;
}

// nullopt: there is no such group.
Outcome<std::optional<Group>> FindGroup(const Call& call, const std::string& name, WallTime now) {
  auto detail = call.stores.groups.GetGroup(name, 0, now);
  if (detail.ok()) return std::optional(std::move(detail->group));
  if (detail.code() == ErrorCode::kNotFound) return std::optional<Group>();
  return detail.error();
}

// A member of the release before, which may still run, would not keep the time.
Outcome<std::optional<Duration>> ReadPer(const Call& call, const json& body) {
  CARILLON_ASSIGN_OR_RETURN(const auto per,
                            NumberMember(body, "per_s", {.low = 0, .high = kGroupPerMax / 1s}));
  if (!per) return std::optional<Duration>();
  if (*per > 0 && !call.api.upgrade.FeatureOn(kFanOutMigration)) {
    return UpgradeUnfinished("per_s");
  }
  return std::optional<Duration>(std::chrono::seconds(*per));
}

Outcome<int64_t> ReadLimit(const json& body) {
  CARILLON_ASSIGN_OR_RETURN(const auto limit,
                            NumberMember(body, "limit", {.low = 0, .high = kGroupLimitMax}));
  if (!limit) return InvalidField("/limit", "missing", "A limit is required.");
  return *limit;
}

}  // namespace

Reply ListGroups(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const auto groups, call.stores.groups.ListGroups(now));
  json items = json::array();
  for (const Group& group : groups) items.push_back(GroupToJson(call, group));
  return JsonResponse(200, {{"items", std::move(items)}});
}

Reply GetGroup(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  CARILLON_ASSIGN_OR_RETURN(const std::string name, PathGroupName(call));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto detail = call.stores.groups.GetGroup(name, kRunsShown, now);
  if (!detail.ok() && detail.code() == ErrorCode::kNotFound) return NoSuchGroup();
  if (!detail.ok()) return detail.error();
  json body = GroupToJson(call, detail->group);
  body["holders"] = json::array();
  for (const GroupRun& run : detail->holders) {
    json shown = RunToJson(run);
    shown["state"] = Name(run.row.state);
    body["holders"].push_back(std::move(shown));
  }
  body["queue"] = json::array();
  for (const GroupRun& run : detail->queue) {
    json shown = RunToJson(run);
    shown["position"] = body["queue"].size() + 1;
    shown["priority"] = run.row.priority;
    body["queue"].push_back(std::move(shown));
  }
  return JsonResponse(200, body);
}

Reply PutGroup(const Call& call) {
  const std::string& name = call.arguments.at(0);
  if (!IsGroupName(name)) {
    return InvalidField("/name", "bad_name",
                        "The name of a group must be 1 to 63 characters of a-z, 0-9, _ and -, and "
                        "begin with a letter or digit.");
  }
  CARILLON_ASSIGN_OR_RETURN(
      const json body, ReadObject(call.request, Body::kRequired, {"limit", "per_s", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const int64_t limit, ReadLimit(body));
  CARILLON_ASSIGN_OR_RETURN(const std::optional<Duration> per, ReadPer(call, body));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const std::optional<Group> before, FindGroup(call, name, now));
  const auto written = RetryIfUnknown(
      [&] { return call.stores.groups.PutGroup(name, {.limit = limit, .per = per}, now); });
  if (IsUnknown(written)) {
    return OutcomeUnknown("It is unknown whether the group was changed. Retrying is safe.",
                          written.error());
  }
  if (!written.ok() && written.code() == ErrorCode::kExhausted) {
    return Problem{.status = 409,
                   .code = "too_many",
                   .detail = fmt::format("There are {} concurrency groups already; delete one that "
                                         "no job names.",
                                         kGroupsMax)};
  }
  if (!written.ok()) return ChangeFailed(written.error());
  NoteChanges(call, before ? Values(*before) : json::object(), Values(*written));
  return JsonResponse(200, GroupToJson(call, *written));
}

Reply DeleteGroup(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const std::string name, PathGroupName(call));
  const Status deleted = call.stores.groups.DeleteGroup(name);
  if (deleted.ok()) return HttpResponse{.status = 204};
  switch (deleted.code()) {
    case ErrorCode::kNotFound: return NoSuchGroup();
    case ErrorCode::kConflict:
      return Problem{.status = 409,
                     .code = "in_use",
                     .detail = "Jobs name this group. Change or delete these jobs first."};
    case ErrorCode::kTimeout:
      return OutcomeUnknown("It is unknown whether the group was deleted. GET it before retrying.",
                            deleted.error());
    default: return ChangeFailed(deleted.error());
  }
}

}  // namespace carillon::scheduler
