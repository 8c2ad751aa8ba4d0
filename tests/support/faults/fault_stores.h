// All store ports of a process, whose calls go through one CallGate.
#pragma once

#include "common/ports/store/stores.h"
#include "tests/support/faults/account_stores.h"
#include "tests/support/faults/event_stores.h"
#include "tests/support/faults/fault_plan.h"
#include "tests/support/faults/firing_stores.h"
#include "tests/support/faults/job_stores.h"
#include "tests/support/faults/owner_stores.h"
#include "tests/support/faults/upstream_stores.h"

namespace carillon::test {

struct FaultStores {
  FaultStores(const Stores& stores, CallGate& gate)
      : identity(stores.identity, gate),
        segments(stores.segments, gate),
        firing(stores.firing, gate),
        queues(stores.queues, gate),
        groups(stores.groups, gate),
        jobs(stores.jobs, gate),
        runs(stores.runs, gate),
        logs(stores.logs, gate),
        notices(stores.notices, gate),
        executors(stores.executors, gate),
        idempotency(stores.idempotency, gate),
        settings(stores.settings, gate),
        audit(stores.audit, gate),
        housekeeping(stores.housekeeping, gate),
        auth(stores.auth, gate),
        secrets(stores.secrets, gate),
        bulk(stores.bulk, gate),
        completions(stores.completions, gate),
        backfills(stores.backfills, gate),
        calendars(stores.calendars, gate),
        workflows(stores.workflows, gate),
        checkpoints(stores.checkpoints, gate),
        streaks(stores.streaks, gate),
        letters(stores.letters, gate),
        upstream(stores.upstream, gate),
        events(stores.events, gate) {}

  Stores Ports() {
    return {identity,    segments, firing,    queues,      groups,    jobs,      runs,
            logs,        notices,  executors, idempotency, settings,  audit,     housekeeping,
            auth,        secrets,  bulk,      completions, backfills, calendars, workflows,
            checkpoints, streaks,  letters,   upstream,    events};
  }

  FaultIdentityStore identity;
  FaultSegmentStore segments;
  FaultFiringStore firing;
  FaultQueueStore queues;
  FaultGroupStore groups;
  FaultJobStore jobs;
  FaultRunStore runs;
  FaultLogStore logs;
  FaultNoticeStore notices;
  FaultExecutorStore executors;
  FaultIdempotencyStore idempotency;
  FaultSettingsStore settings;
  FaultAuditStore audit;
  FaultHousekeeping housekeeping;
  FaultAuthStore auth;
  FaultSecretStore secrets;
  FaultBulkStore bulk;
  FaultCompletionStore completions;
  FaultBackfillStore backfills;
  FaultCalendarStore calendars;
  FaultWorkflowStore workflows;
  FaultCheckpointStore checkpoints;
  FaultStreakStore streaks;
  FaultLetterStore letters;
  FaultUpstreamStore upstream;
  FaultEventStore events;
};

struct OwnFaultPlan {
  FaultPlan plan;
};
// Stores with the faults of a plan.
struct PlannedStores : OwnFaultPlan, FaultStores {
  explicit PlannedStores(const Stores& stores) : FaultStores(stores, plan) {}
};

}  // namespace carillon::test
