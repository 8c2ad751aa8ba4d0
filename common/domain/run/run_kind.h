// Questions that other code asks about the kind of a run, each answered once for all kinds. Pure.
//
//                         CRON RATE ONCE   DELAY   MANUAL   BACKFILL   AFTER   WORKFLOW
//   IsPlannedAhead        yes              yes     no       no         no      no
//   MayMisfire            yes              no      no       no         no      no
//   IsSkippedByPause      yes              yes     yes      no         yes     no
//   IsQueuedWithoutSlot   no               no      no       yes        no      yes
//   KeepsPriority         no               no      yes      yes        no      no
//   HasRequest            flag             flag    yes      flag       flag    flag
//   MayBeLate             yes              yes     yes      no         yes     yes
//   IsOfAFire             yes              yes     no       yes        yes     yes
//   MayStartDependents    yes              yes     yes      no         yes     yes
#pragma once

#include "common/domain/run/run.h"

namespace carillon {

// True if a schedule planned the run before it was due: until then an edit, a pause or a delete of
// its job may remove it, because its schedule plans the fire again or is gone too.
constexpr bool IsPlannedAhead(RunKind kind) {
  switch (kind) {
    case RunKind::kCron:
    case RunKind::kRate:
    case RunKind::kOnce:
    case RunKind::kDelay: return true;
    case RunKind::kManual:
    case RunKind::kBackfill:
    case RunKind::kAfter:
    case RunKind::kWorkflow: return false;
  }
  return false;
}

// True if the job's misfire policy may skip the run when it starts late. A run of a delay schedule
// must not be skipped for that: no fire follows before it has run.
constexpr bool MayMisfire(RunKind kind) {
  return kind == RunKind::kCron || kind == RunKind::kRate || kind == RunKind::kOnce;
}

// True if a pause of the job ends the run as SKIPPED when it is due and was never started. The
// others wait until the job is resumed.
constexpr bool IsSkippedByPause(RunKind kind) {
  return kind != RunKind::kBackfill && kind != RunKind::kWorkflow;
}

// True if the run is queued, and not skipped, when overlap_policy skip leaves no slot for it.
// Skipping the run of a node would fail its workflow.
constexpr bool IsQueuedWithoutSlot(RunKind kind) {
  return kind == RunKind::kBackfill || kind == RunKind::kWorkflow;
}

// True if an edit of the job, and another attempt, leave the run's priority as it is, because
// a user may have chosen it for this run.
constexpr bool KeepsPriority(RunKind kind) {
  return kind == RunKind::kManual || kind == RunKind::kBackfill;
}

// True if a late start of the run is worth a notice. Backfilled runs give way to all others.
constexpr bool MayBeLate(RunKind kind) { return kind != RunKind::kBackfill; }

// True if parameters or a trace may be stored with the run, which its execution needs.
constexpr bool HasRequest(RunKind kind, uint32_t flags) {
  return kind == RunKind::kManual || (flags & run_flag::kHasRequest) != 0;
}

// True if the run's end starts runs of the jobs that wait for its job. A backfill repeats the past of
// one job; who wants its dependents to run, too, backfills or runs them.
constexpr bool MayStartDependents(RunKind kind) { return kind != RunKind::kBackfill; }

// True if the run's fire is a fire of a schedule, or, passed on, of the job before it; false if it is only the time of a request.
constexpr bool IsOfAFire(RunKind kind) { return kind != RunKind::kManual; }

}  // namespace carillon
