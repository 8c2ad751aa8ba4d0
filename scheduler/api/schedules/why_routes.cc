#include "scheduler/api/schedules/why_routes.h"

#include <algorithm>

#include "common/domain/calendar/schedule_problem.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/run/streak.h"
#include "common/domain/run_id.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/calendars.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/explain/upcoming_fires.h"
#include "scheduler/explain/waiting.h"
#include "scheduler/explain/why.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kRunsLookedAt = 100;
constexpr size_t kGapsLookedAt = 10;  // only the newest gap that can be decoded is used
constexpr size_t kPausesLookedAt = 200;

// Returns the version in force at `at`: the last of the versions up to `newest` that was created by
// then. Creation times ascend with version numbers, so a binary search needs few reads.
Outcome<std::optional<JobVersion>> VersionAt(const Call& call, const JobId& id, int64_t newest,
                                             WallTime at) {
  std::optional<JobVersion> best;
  int64_t low = 1;
  while (low <= newest) {
    const int64_t middle = low + (newest - low) / 2;
    CARILLON_ASSIGN_OR_RETURN(auto found, call.stores.jobs.ListVersions(id, middle + 1, 1));
    if (found.empty() || found[0].version < low) {  // versions this old are no longer stored
      low = middle + 1;
    } else if (found[0].created <= at) {
      best = std::move(found[0]);
      low = middle + 1;
    } else {
      newest = found[0].version - 1;
    }
  }
  return best;
}

// Returns a run in the window. A run that was started is preferred to a run that was skipped.
Outcome<std::optional<RunDetail>> RunAt(const Call& call, const JobId& id, WallTime at,
                                        WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      RunPage page,
      call.stores.runs.ListRuns(
          {.job_id = id, .since = at, .until = at + kWhyWindow, .limit = kRunsLookedAt}, now));
  std::optional<RunDetail> best;
  for (RunDetail& run : page.runs) {
    const bool better = !best || best->row.state == RunState::kSkipped;
    if (IsOfAFire(run.row.kind) && better) best = std::move(run);
  }
  return best;
}

Outcome<std::optional<GapRecord>> GapAt(const Call& call, const JobId& id, WallTime at) {
  CARILLON_ASSIGN_OR_RETURN(
      const GapPage gaps,
      call.stores.runs.ListGaps(
          {.job_id = id, .since = at, .until = at + kWhyWindow, .limit = kGapsLookedAt}));
  return gaps.gaps.empty() ? std::nullopt : std::optional(gaps.gaps.front());
}

// Returns the first fire of `job` in the window, even if the job is disabled.
Outcome<std::optional<WallTime>> DueAt(const JobDefinition& job, const CalendarSet& calendars,
                                       WallTime at) {
  const auto fires = UpcomingFires(job, calendars, at - Duration(1), 1);
  if (!fires.ok() || fires->empty()) return std::optional<WallTime>();
  CARILLON_ASSIGN_OR_RETURN(const WallTime fire,
                            ParseRfc3339((*fires)[0]["fire_time"].get<std::string>()));
  return fire < at + kWhyWindow ? std::optional(fire) : std::nullopt;
}

// The latest pauses and resumes of the cluster, oldest first.
Outcome<std::vector<AuditRecord>> PausesAndResumes(const Call& call) {
  std::vector<AuditRecord> records;
  for (const char* object : {"pause", "resume"}) {  // as the audit names them
    CARILLON_ASSIGN_OR_RETURN(
        const auto found,
        call.stores.audit.ListAudit({.object_id = object, .limit = kPausesLookedAt}));
    for (const AuditRecord& record : found) {
      const bool changed = !record.changes_json.empty();  // a repeated pause changed nothing
      if (changed && record.action.starts_with("system.")) records.push_back(record);
    }
  }
  std::sort(records.begin(), records.end(),
            [](const AuditRecord& a, const AuditRecord& b) { return a.id < b.id; });
  return records;
}

// Returns the ended pause of the whole cluster that contains `due`; nullopt if there is none.
Outcome<std::optional<PastPause>> PauseAt(const Call& call, WallTime due) {
  CARILLON_ASSIGN_OR_RETURN(const auto records, PausesAndResumes(call));
  std::optional<PastPause> pause;
  for (const AuditRecord& record : records) {
    if (record.action == "system.pause" && !pause && record.at <= due) {
      pause =
          PastPause{.since = record.at, .until = {}, .by = record.actor, .reason = record.reason};
    } else if (record.action == "system.resume" && pause) {
      pause->until = record.at;
      if (due < record.at) return pause;
      pause.reset();
    }
  }
  return std::optional<PastPause>();
}

bool MayBeOfAPause(const GapRecord& gap) {
  return gap.range.reason == GapReason::kMisfire || gap.range.reason == GapReason::kCatchUpLimit;
}

json PauseToJson(const PastPause& pause) {
  return {{"since", FormatRfc3339(pause.since)},
          {"until", FormatRfc3339(pause.until)},
          {"by", pause.by},
          {"reason", pause.reason}};
}

}  // namespace

Reply WhyJob(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const JobId id, PathJobId(call));
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {"at"}));
  CARILLON_ASSIGN_OR_RETURN(const auto at, query.Time("at"));
  if (!at)
    return InvalidField("?at", "missing",
                        "The parameter at is required, e.g. at=2026-03-01T02:30:00Z.");
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto job = call.stores.jobs.GetJob(id);
  if (!job.ok()) return Explain(call, id, job.error());
  FireEvidence evidence{.at = *at, .now = now, .created = job->created};
  CARILLON_ASSIGN_OR_RETURN(auto version, VersionAt(call, id, job->version, *at));
  if (version) evidence.definition = version->definition;
  if (evidence.definition) {
    CARILLON_ASSIGN_OR_RETURN(const auto calendars, CalendarsFor(call, *evidence.definition));
    CARILLON_ASSIGN_OR_RETURN(evidence.due, DueAt(*evidence.definition, *calendars, *at));
    const JobDefinition& then = *evidence.definition;
    evidence.problem = ScheduleProblem(then.schedules, then.dst_gap, then.dst_repeat, *calendars);
    evidence.excluded = FindExcluded(*evidence.definition, *calendars, *at, *at + kWhyWindow);
  }
  if (evidence.due) {  // the version at the time of the fire matters
    CARILLON_ASSIGN_OR_RETURN(auto then, VersionAt(call, id, job->version, *evidence.due));
    if (then && then->version != version->version) {
      version = std::move(then);
      evidence.definition = version->definition;
    }
  }
  evidence.paused_by_failures = version && evidence.definition &&
                                evidence.definition->pause_after_failures > 0 &&
                                version->actor == kStreakActor;
  CARILLON_ASSIGN_OR_RETURN(evidence.run, RunAt(call, id, *at, now));
  if (evidence.run) {
    CARILLON_ASSIGN_OR_RETURN(const WallTime later, call.api.cluster_now());
    CARILLON_ASSIGN_OR_RETURN(const auto waiting,
                              ExplainWaiting({.jobs = call.stores.jobs,
                                              .executors = call.stores.executors,
                                              .queues = call.stores.queues,
                                              .groups = call.stores.groups,
                                              .upstream = call.stores.upstream,
                                              .firing = call.stores.firing,
                                              .workflows = call.stores.workflows,
                                              .live = LiveExecutors(call.api.status.Read())},
                                             {.now = later,
                                              .row = evidence.run->row,
                                              .cluster_paused = call.api.settings.paused(),
                                              .opened = evidence.run->result.started,
                                              .until = evidence.run->until,
                                              .node = evidence.run->node},
                                             evidence.run->job_id));
    if (waiting) evidence.run_waits_for = waiting->detail;
    auto given = GivenFromText(evidence.run->parameters_json);
    if (given.ok()) evidence.event = std::move(given->event);
  }
  CARILLON_ASSIGN_OR_RETURN(evidence.gap, GapAt(call, id, *at));
  if (const auto pause = PauseOf(call.api.settings.Current())) {
    const auto since = ParseRfc3339(pause->since);
    if (since.ok()) evidence.paused_since = *since;
  }
  if (evidence.due && evidence.gap && MayBeOfAPause(*evidence.gap)) {
    CARILLON_ASSIGN_OR_RETURN(evidence.past_pause, PauseAt(call, *evidence.due));
  }
  const FireAnswer answer = ExplainFire(evidence);
  json body = {{"job_id", id.value()},
               {"at", FormatRfc3339(*at)},
               {"outcome", std::string(answer.outcome)},
               {"explanation", answer.explanation},
               {"fire_time", evidence.due ? json(FormatRfc3339(*evidence.due)) : json(nullptr)},
               {"job_version", version ? json(version->version) : json(nullptr)},
               {"run_id", nullptr},
               {"gap", nullptr},
               {"cluster_pause", nullptr}};
  if (evidence.run) {
    body["run_id"] = EncodeRunId(evidence.run->row.key);
    body["fire_time"] = FormatRfc3339(evidence.run->row.key.fire);
  } else if (evidence.gap) {
    body["gap"] = GapToJson(*evidence.gap);
    if (evidence.past_pause) body["cluster_pause"] = PauseToJson(*evidence.past_pause);
  }
  return JsonResponse(200, body);
}

}  // namespace carillon::scheduler
