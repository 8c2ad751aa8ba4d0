// Questions that other code asks about the kind of a run. Pure.
//
// Place    The only file that compares kinds, with run.cc (names) and run_rows.cc (numbers); the
//          tidy test refuses others. SQL asks through KindsWith of run_rows.h.
// Always   RulesOf answers every question for every kind: a kind without a row, or a row without an
//          answer, does not compile.
//
// A run that came from a backfilled one, such as a node of a backfilled workflow, has the flag
// kBackground. Questions that take flags answer for it as for a backfilled run.
#pragma once

#include "common/base/check.h"
#include "common/domain/run/run.h"

namespace carillon {

// A yes or a no that cannot be left out.
class Answer {
 public:
  constexpr Answer(bool yes) : yes_(yes) {}
  constexpr operator bool() const { return yes_; }

 private:
  bool yes_;
};

struct RunKindRules {
  // A schedule planned the run before it was due: until then an edit, a pause or a delete of its
  // job may remove it, because its schedule plans the fire again or is gone too.
  Answer planned_ahead;
  // The job's misfire policy may skip the run when it starts late. A run of a delay schedule must
  // not be skipped for that: no fire follows before it has run.
  Answer may_misfire;
  // A pause of the job ends the run as SKIPPED when it is due and was never started. The others
  // wait until the job is resumed.
  Answer skipped_by_pause;
  // The run counts for pause_after_failures (streak.h): the scheduler started it by itself, and its
  // end is the job's own. A person's try, or what belongs to it, must not stop production.
  Answer in_streak;
  // The run is queued, and not skipped, when overlap_policy skip leaves no slot for it. Skipping
  // the run of a node would fail its workflow.
  Answer queued_without_slot;
  // An edit of the job, and another attempt, leave the run's priority as it is, because a user may
  // have chosen it for this run.
  Answer keeps_priority;
  // Parameters or a trace may always be stored with the run; otherwise a flag says so.
  Answer has_request;
  // The fire of the run is a logical date: that of a schedule, or passed on by the run before it.
  // Otherwise it is only the time of a request.
  Answer of_a_fire;
  // The run is that of a fire of a schedule of its own job, live or by a backfill: a backfill finds
  // it at that fire, and may run it again. The fire of a run that another run started is the
  // other's, and the run belongs to what started it.
  Answer fire_of_a_schedule;
  // queue_timeout of the job applies. Backfilled runs wait for the live ones as long as it takes.
  Answer may_expire;
  // A late start is worth a notice. Backfilled runs give way to all others.
  Answer may_be_late;
  // The run's end starts runs of the jobs that wait for its job. A backfill repeats the past of one
  // job; a user who wants its dependents to run, too, backfills or runs them.
  Answer starts_dependents;
  // Only the store of workflows may make the run PENDING again when it is final: it holds the lock
  // of the workflow run, and knows the nodes behind it.
  Answer moved_by_workflow;
  // A failure of the run leaves a dead letter and a notice. The failure of a part is told by the
  // own run of its fire.
  Answer tells_failure;
  // The run counts for its job: in statistics, streaks, lists, what waits for the job, and for
  // max_running. A part does not, because the own run of its fire does.
  Answer counts_for_job;
};

// The answers for runs that a schedule planned; a kind below names only what differs.
constexpr RunKindRules RulesOf(RunKind kind) {
  switch (kind) {
    case RunKind::kCron:
    case RunKind::kRate:
    case RunKind::kOnce:
      return {.planned_ahead = true,
              .may_misfire = true,
              .skipped_by_pause = true,
              .in_streak = true,
              .queued_without_slot = false,
              .keeps_priority = false,
              .has_request = false,
              .of_a_fire = true,
              .fire_of_a_schedule = true,
              .may_expire = true,
              .may_be_late = true,
              .starts_dependents = true,
              .moved_by_workflow = false,
              .tells_failure = true,
              .counts_for_job = true};
    case RunKind::kDelay:
      return {.planned_ahead = true,
              .may_misfire = false,
              .skipped_by_pause = true,
              .in_streak = true,
              .queued_without_slot = false,
              .keeps_priority = false,
              .has_request = false,
              .of_a_fire = true,
              .fire_of_a_schedule = true,
              .may_expire = true,
              .may_be_late = true,
              .starts_dependents = true,
              .moved_by_workflow = false,
              .tells_failure = true,
              .counts_for_job = true};
    case RunKind::kManual:
      return {.planned_ahead = false,
              .may_misfire = false,
              .skipped_by_pause = true,
              .in_streak = false,
              .queued_without_slot = false,
              .keeps_priority = true,
              .has_request = true,
              .of_a_fire = false,
              .fire_of_a_schedule = false,
              .may_expire = true,
              .may_be_late = true,
              .starts_dependents = true,
              .moved_by_workflow = false,
              .tells_failure = true,
              .counts_for_job = true};
    case RunKind::kBackfill:
      return {.planned_ahead = false,
              .may_misfire = false,
              .skipped_by_pause = false,
              .in_streak = false,
              .queued_without_slot = true,
              .keeps_priority = true,
              .has_request = false,
              .of_a_fire = true,
              .fire_of_a_schedule = true,
              .may_expire = false,
              .may_be_late = false,
              .starts_dependents = false,
              .moved_by_workflow = false,
              .tells_failure = true,
              .counts_for_job = true};
    case RunKind::kAfter:
    case RunKind::kEvent:
      return {.planned_ahead = false,
              .may_misfire = false,
              .skipped_by_pause = true,
              .in_streak = true,
              .queued_without_slot = false,
              .keeps_priority = false,
              .has_request = false,
              .of_a_fire = true,
              .fire_of_a_schedule = false,
              .may_expire = true,
              .may_be_late = true,
              .starts_dependents = true,
              .moved_by_workflow = false,
              .tells_failure = true,
              .counts_for_job = true};
    case RunKind::kWorkflow:
      return {.planned_ahead = false,
              .may_misfire = false,
              .skipped_by_pause = false,
              .in_streak = false,
              .queued_without_slot = true,
              .keeps_priority = false,
              .has_request = false,
              .of_a_fire = true,
              .fire_of_a_schedule = false,
              .may_expire = true,
              .may_be_late = true,
              .starts_dependents = true,
              .moved_by_workflow = true,
              .tells_failure = true,
              .counts_for_job = true};
    case RunKind::kShard:
      return {.planned_ahead = false,
              .may_misfire = false,
              .skipped_by_pause = false,
              .in_streak = false,
              .queued_without_slot = true,
              .keeps_priority = true,
              .has_request = false,
              .of_a_fire = false,
              .fire_of_a_schedule = false,
              .may_expire = true,
              .may_be_late = false,
              .starts_dependents = false,
              .moved_by_workflow = false,
              .tells_failure = false,
              .counts_for_job = false};
  }
  CheckFailed(__FILE__, __LINE__, "kind", "no kind of a run");
}

constexpr bool IsPlannedAhead(RunKind kind) { return RulesOf(kind).planned_ahead; }
constexpr bool MayMisfire(RunKind kind) { return RulesOf(kind).may_misfire; }
constexpr bool IsSkippedByPause(RunKind kind) { return RulesOf(kind).skipped_by_pause; }
constexpr bool IsInStreak(RunKind kind) { return RulesOf(kind).in_streak; }
constexpr bool IsQueuedWithoutSlot(RunKind kind) { return RulesOf(kind).queued_without_slot; }
constexpr bool KeepsPriority(RunKind kind) { return RulesOf(kind).keeps_priority; }
constexpr bool IsOfAFire(RunKind kind) { return RulesOf(kind).of_a_fire; }
constexpr bool IsFireOfASchedule(RunKind kind) { return RulesOf(kind).fire_of_a_schedule; }
constexpr bool IsMovedByWorkflow(RunKind kind) { return RulesOf(kind).moved_by_workflow; }
constexpr bool TellsFailure(RunKind kind) { return RulesOf(kind).tells_failure; }
constexpr bool CountsForJob(RunKind kind) { return RulesOf(kind).counts_for_job; }

constexpr bool HasRequest(RunKind kind, uint32_t flags) {
  return RulesOf(kind).has_request || (flags & run_flag::kHasRequest) != 0;
}
constexpr bool IsBackground(uint32_t flags) { return (flags & run_flag::kBackground) != 0; }
constexpr bool MayExpire(RunKind kind, uint32_t flags) {
  return RulesOf(kind).may_expire && !IsBackground(flags);
}
constexpr bool MayBeLate(RunKind kind, uint32_t flags) {
  return RulesOf(kind).may_be_late && !IsBackground(flags);
}
constexpr bool MayStartDependents(RunKind kind, uint32_t flags) {
  return RulesOf(kind).starts_dependents && !IsBackground(flags);
}
// True if the fire of the run is a date for runs of other jobs that wait for it.
bool IsDated(RunKind kind, uint32_t flags);
// The flag that the run passes on to its nodes and dependents. A part passes nothing on.
constexpr uint32_t ByHandFlag(RunKind kind, uint32_t flags) {
  const bool by_hand = !RulesOf(kind).of_a_fire && RulesOf(kind).counts_for_job;  // MANUAL
  return by_hand ? run_flag::kByHand : flags & run_flag::kByHand;
}

// The time at which a run that was queued at `queued` is skipped for queue_timeout of its job;
// kNever: it waits as long as it takes.
WallTime QueueExpiry(const RunRow& row, Duration queue_timeout, WallTime queued);

// The store that changes a run.
enum class Reopener {
  kOthers,
  kWorkflows,  // holds the lock of the workflow run of a node
};
// Every store checks each change of a run with it. kConflict: a final run of a node would become
// PENDING behind the back of its workflow (a bug).
Status CheckReopening(const RunRow& row, RunState to, Reopener by);

}  // namespace carillon
