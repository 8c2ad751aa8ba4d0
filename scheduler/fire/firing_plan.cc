#include "scheduler/fire/firing_plan.h"

#include "common/base/failpoint.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kHostDownMost = 10min;

// True if the run counts as a misfire when it is late. Later tries do not, because their run was
// started before.
bool CanMisfire(const PendingRun& run) { return MayMisfire(run.kind) && IsFirstTry(run); }

bool IsMisfire(const PendingRun& run, const Definition& definition, WallTime now) {
  const MisfireRules rules = MisfireRulesOf(definition.job());
  // Late since it became due: a run that was queued is not late when it is admitted.
  const WallTime since = failpoint::Broken("misfire.from_fire") ? run.key.fire : run.due;
  if (!CanMisfire(run) || now - since <= rules.in_time()) return false;
  const std::optional<Schedule> schedule = definition.ScheduleOf(run.key);
  if (!schedule) return false;
  const DueTimes due_times(*schedule, run.key.schedule_id);
  return !StillWanted(*schedule, {run.key.fire, since}, now, rules, due_times);
}

// True for a fire that is not run now because the next one will do. Runs by hand, of nodes, of
// dependents, of backfills and of delays are no such fires, nor is another attempt.
bool IsShed(const PendingRun& run, const Definition& definition, const FiringFacts& facts) {
  if (run.priority >= facts.shed_below || facts.now - run.due < facts.shed_after) return false;
  if (failpoint::Broken("shed.takes_manual")) return true;
  if (!CanMisfire(run) || IsBackground(run.flags) || FansOut(definition.job())) return false;
  const std::optional<Schedule> schedule = definition.ScheduleOf(run.key);
  if (!schedule) return false;
  const ScheduleKind kind = schedule->kind();
  if (kind != ScheduleKind::kCron && kind != ScheduleKind::kRate) return false;
  const std::optional<Fire> next = schedule->Next(facts.now);
  return next && next->time - facts.now <= kShedFiresAgain;
}

// True for a part that has waited long enough for an executor that is down. Not only the part must
// have waited so long: it may have waited for the work before it, when the executor restarts. An
// edit may have taken the broadcast from the job.
bool MissesItsHost(const PendingRun& run, const JobDefinition& job, const FiringFacts& facts) {
  const Duration wait = std::chrono::seconds(job.broadcast.value_or(Broadcast()).wait_s);
  // What a member saw is forgotten when it restarts, so a long wait asks for less of it.
  return facts.host_down_for && *facts.host_down_for >= std::min(wait, kHostDownMost) &&
         facts.now - run.due > wait;
}

// True for a part whose executor an edit of the job, or of its labels, has taken out.
bool HasLostItsHost(const PendingRun& run, const JobDefinition& job, const FiringFacts& facts) {
  if (!IsBoundPart(run)) return false;
  const bool elsewhere =
      !job.executor_id.empty() && ExecutorId(job.executor_id) != run.extras->pinned_executor;
  return elsewhere || facts.host_left;
}

}  // namespace

std::string_view DecideFiring(const PendingRun& run, const Definition& definition,
                              const FiringFacts& facts) {
  const JobDefinition& job = definition.job();
  const Duration queue_timeout = std::chrono::seconds(job.queue_timeout_s);
  if (HasLostItsHost(run, job, facts)) return reason::kNoExecutor;
  if (MissesItsHost(run, job, facts)) return reason::kHostDown;
  // Until then the part waits for its host, which is no time in a queue.
  if (!facts.host_down_for && MayExpire(run.kind, run.flags) && queue_timeout > Duration::zero() &&
      facts.now - run.due > queue_timeout) {
    return reason::kQueueTimeout;
  }
  if (IsMisfire(run, definition, facts.now)) return reason::kMisfire;
  // The claim decides about the others, as DecideClaim says.
  const bool may_skip = IsFirstTry(run) && !IsQueuedWithoutSlot(run.kind);
  const bool overlaps =
      job.overlap_policy == OverlapPolicy::kSkip && may_skip && facts.other_runs >= job.max_running;
  if (overlaps) return reason::kOverlap;
  return IsShed(run, definition, facts) ? reason::kShed : std::string_view{};
}

bool AgesOut(const PendingRun& run, const Definition& definition) {
  return definition.job().queue_timeout_s > 0 || CanMisfire(run) || IsBoundPart(run);
}

}  // namespace carillon::scheduler
