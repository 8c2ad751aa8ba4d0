#include "scheduler/api/edits/wait_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/domain/run/dependents.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/upstream/upstream_sources.h"
#include "scheduler/api/call/calendars.h"

namespace carillon::scheduler {
namespace {

// The jobs whose schedules make the fires for which a run waits.
struct FireMakers {
  std::vector<JobDefinition> jobs = {};
  bool others = false;  // fires may come from something else, or from what cannot be read
};

bool MakesFires(const ScheduleSpec& spec) {
  return spec.kind != ScheduleKind::kAfter && spec.kind != ScheduleKind::kManual;
}

bool IsComing(const ComingJobs& coming, const JobId& id) {
  return coming.stored != nullptr && coming.stored->contains(id.value());
}

bool HasCause(const JobDefinition& job) {
  return std::ranges::any_of(
      job.schedules, [](const ScheduleSpec& spec) { return spec.kind != ScheduleKind::kManual; });
}

// By its schedules, or those of jobs before it.
bool AsksForFiresOf(const JobDefinition& job, const JobId& id) {
  return std::ranges::any_of(job.waits_for, [&](const UpstreamWait& wait) {
    return (wait.in.empty() ? wait.job : wait.in) == id;
  });
}

// As FindSources, with definitions. Runs that failures start are dated, too.
Outcome<FireMakers> ReadFireMakers(const Call& call, const JobId& start, const ComingJobs& coming) {
  FireMakers found;
  std::set<JobId> known{start};
  std::vector<JobId> open{start};
  while (!open.empty() && known.size() <= kSourceJobsMax + 1) {
    const JobId id = std::exchange(open.back(), JobId{});
    open.pop_back();
    const auto job = call.stores.jobs.GetJob(id);
    const bool gone = !job.ok() && job.code() == ErrorCode::kNotFound;
    const bool unreadable = !job.ok() && job.code() == ErrorCode::kCorrupt;
    if (!job.ok() && !gone && !unreadable) return job.error();
    found.others |= unreadable || IsComing(coming, id);
    if (!job.ok()) continue;
    const std::vector<ScheduleSpec>& schedules = job->definition.schedules;
    if (std::ranges::any_of(schedules, &MakesFires)) {
      found.jobs.push_back(job->definition);
      continue;
    }
    std::vector<JobId> before;
    for (const ScheduleSpec& spec : schedules) {
      if (spec.kind != ScheduleKind::kAfter) continue;
      found.others |= spec.on == AfterOutcome::kFailure;
      before.emplace_back(spec.upstream);
    }
    CARILLON_ASSIGN_OR_RETURN(const JobDependencies named, call.stores.jobs.ListDependencies(id));
    for (const JobDependency& one : named.downstream) {
      if (one.kind == DependencyKind::kNode) before.push_back(one.job_id);
    }
    for (const JobId& one : before) {
      if (known.insert(one).second) open.push_back(one);
    }
  }
  return found;
}

// About how many fires the schedules have in such a window.
Outcome<int64_t> CountFiresOf(const Call& call, const std::vector<JobDefinition>& jobs,
                              const WaitWindow& window) {
  const Duration span = window.day ? Duration(24h) : std::chrono::seconds(window.back_s) + 1us;
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  int64_t fires = 0;
  for (const JobDefinition& job : jobs) {
    CARILLON_ASSIGN_OR_RETURN(const auto calendars, CalendarsFor(call, job));
    for (const ScheduleSpec& spec : job.schedules) {
      auto limits = calendars->Of(spec.calendar, spec.blackout);
      if (!limits.ok()) continue;
      const auto schedule =
          Schedule::Compile(spec, job.dst_gap, job.dst_repeat, std::move(*limits));
      if (!schedule.ok()) continue;
      // From a fire on: at this moment it may rest.
      const auto first = schedule->Next(now);
      if (first) fires += schedule->Count(first->time, first->time + span);
    }
  }
  return fires;
}

class WaitChecker {
 public:
  WaitChecker(const Call& call, const JobId& self, const JobDefinition* before,
              const JobDefinition& definition, const ComingJobs& coming)
      : call_(call), self_(self), definition_(definition), coming_(coming) {
    if (before == nullptr) return;
    had_ = before->waits_for;
    for (const JobId& id : WaitedJobsOf(*before)) named_.insert(id);
  }

  Outcome<std::vector<FieldError>> Find() {
    std::vector<size_t> entries;  // to be judged by their sources
    std::vector<UpstreamTarget> targets;
    for (size_t i = 0; i < definition_.waits_for.size(); ++i) {
      const UpstreamWait& wait = definition_.waits_for[i];
      if (std::ranges::find(had_, wait) != had_.end()) continue;
      CARILLON_ASSIGN_OR_RETURN(const bool known, CheckKnown(i, wait));
      const bool coming = IsComing(coming_, wait.job) || IsComing(coming_, wait.in);
      const bool own = wait.job == self_ || (!wait.in.empty() && wait.in == self_);
      if (!known || coming || own) continue;
      entries.push_back(i);
      targets.push_back({wait.job, wait.in});
    }
    if (targets.empty()) return std::move(found_);
    CARILLON_ASSIGN_OR_RETURN(const auto sources, call_.stores.upstream.ReadSources(targets));
    for (size_t k = 0; k < entries.size(); ++k) {
      CARILLON_TRY(CheckSources(entries[k], definition_.waits_for[entries[k]], sources[k]));
    }
    return std::move(found_);
  }

 private:
  void Note(size_t entry, std::string_view field, std::string code, std::string detail) {
    found_.push_back(
        {fmt::format("/waits_for/{}/{}", entry, field), std::move(code), std::move(detail)});
  }

  Outcome<bool> CheckKnown(size_t entry, const UpstreamWait& wait) {
    bool known = true;
    for (const bool in : {false, true}) {
      const JobId& id = in ? wait.in : wait.job;
      if (id.empty() || id == self_ || named_.contains(id) || IsComing(coming_, id)) continue;
      const auto head = call_.stores.jobs.GetJobHead(id);
      if (!head.ok() && head.code() != ErrorCode::kNotFound) return head.error();
      if (head.ok() && !head->deleted) continue;
      const Error unknown = UnknownAwaited(entry, in, id);
      found_.push_back(
          {unknown.pointer, std::string(DependencyCode(unknown)), DependencySentence(unknown)});
      known = false;
    }
    return known;
  }

  Outcome<bool> CheckSources(size_t entry, const UpstreamWait& wait,
                             const UpstreamSources& sources) {
    const std::string_view field = wait.in.empty() ? "job" : "in";
    const JobId& start = wait.in.empty() ? wait.job : wait.in;
    if (sources.deleted || sources.job_no == JobNo{}) return true;
    if (sources.not_a_node) {
      found_.push_back(NotANode(entry, wait));
      return true;
    }
    if (sources.too_many) {
      Note(entry, field, "too_many_sources",
           fmt::format("More than {} jobs are before job {}, so its fires cannot be followed. Wait "
                       "for a job nearer to the begin of the chain.",
                       kSourceJobsMax, start.value()));
      return true;
    }
    const bool counts = wait.which == WaitWhich::kAll;
    if (!sources.schedules.empty() && !counts) return true;
    CARILLON_ASSIGN_OR_RETURN(const FireMakers makers, ReadFireMakers(call_, start, coming_));
    if (sources.schedules.empty()) {
      if (makers.others || !makers.jobs.empty()) return true;
      found_.push_back(NeverMet(entry, wait));
      return true;
    }
    CARILLON_ASSIGN_OR_RETURN(const int64_t fires, CountFiresOf(call_, makers.jobs, wait.window));
    if (fires <= kWaitFiresMax) return true;
    Note(entry, "which", "too_many_fires",
         fmt::format("The window has about {} fires; all of at most {} can be waited for. Choose "
                     "last, or a shorter window.",
                     fires, kWaitFiresMax));
    return true;
  }

  const Call& call_;
  const JobId& self_;
  const JobDefinition& definition_;
  const ComingJobs& coming_;
  std::vector<UpstreamWait> had_;
  std::set<JobId> named_;
  std::vector<FieldError> found_;
};

}  // namespace

FieldError NotANode(size_t entry, const UpstreamWait& wait) {
  return {fmt::format("/waits_for/{}/in", entry), "never_met",
          fmt::format("Job {} is no node of {}. Name a workflow that runs it, or omit in.",
                      wait.job.value(), wait.in.value())};
}

FieldError NeverMet(size_t entry, const UpstreamWait& wait) {
  const bool in = !wait.in.empty();
  return {fmt::format("/waits_for/{}/{}", entry, in ? "in" : "job"), "never_met",
          fmt::format("Job {} has no schedule, nor has a job before it. Only runs of a schedule "
                      "count, not those that a person starts.",
                      (in ? wait.in : wait.job).value())};
}

Outcome<std::vector<FieldError>> FindWaitMistakes(const Call& call, const JobId& self,
                                                  const JobDefinition* before,
                                                  const JobDefinition& definition,
                                                  const ComingJobs& coming) {
  if (!WaitsForOthers(definition)) return std::vector<FieldError>();
  return WaitChecker(call, self, before, definition, coming).Find();
}

Result<std::string> FindLostFires(const Call& call, const JobId& id, const JobDefinition& before,
                                  const JobDefinition& definition, const ComingJobs& coming) {
  if (!HasCause(before) || HasCause(definition)) return std::string();
  CARILLON_ASSIGN_OR_RETURN(const JobDependencies known, call.stores.jobs.ListDependencies(id));
  std::set<JobId> waiting;
  for (const JobDependency& one : known.downstream) {
    // A node begins with its workflow, whatever schedules it has.
    if (one.kind == DependencyKind::kNode) return std::string();
    if (one.kind == DependencyKind::kWaits) waiting.insert(one.job_id);
  }
  for (const JobId& other : waiting) {
    const auto job = call.stores.jobs.GetJob(other);
    const bool unknown =
        !job.ok() && job.code() != ErrorCode::kNotFound && job.code() != ErrorCode::kCorrupt;
    if (unknown) return job.error();
    if (!job.ok()) continue;
    const auto later = coming.after ? coming.after(*job) : std::optional(job->definition);
    if (!later || !AsksForFiresOf(*later, id)) continue;
    return fmt::format("Runs of job {} wait for this one", other.value());
  }
  return std::string();
}

Problem LostFiresProblem(const std::string& lost) {
  const std::string detail = fmt::format(
      "{}, and without a schedule it would have no fires for which they could wait. Change that "
      "job "
      "first, or pause this one.",
      lost);
  return Problem{.status = 409,
                 .code = "in_use",
                 .detail = detail,
                 .errors = {{"/schedules", "in_use", detail}}};
}

Problem WaitProblem(std::vector<FieldError> found) {
  Problem problem{.status = 422, .code = found.front().code, .detail = found.front().detail};
  problem.errors = std::move(found);
  return problem;
}

}  // namespace carillon::scheduler
