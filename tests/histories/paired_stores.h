// All ports of two stores, paired (pairing.h).
#pragma once

#include "common/ports/store/stores.h"
#include "tests/histories/paired_event_store.h"
#include "tests/histories/paired_owner_stores.h"
#include "tests/histories/paired_record_stores.h"
#include "tests/histories/paired_upstream_store.h"
#include "tests/histories/paired_user_stores.h"

namespace carillon::test {

struct PairedStores {
  PairedStores(const Stores& memory, const Stores& database, Pairing& pairing)
      : identity(memory.identity, database.identity, pairing),
        segments(memory.segments, database.segments, pairing),
        firing(memory.firing, database.firing, pairing),
        queues(memory.queues, database.queues, pairing),
        groups(memory.groups, database.groups, pairing),
        jobs(memory.jobs, database.jobs, pairing),
        runs(memory.runs, database.runs, pairing),
        logs(memory.logs, database.logs, pairing),
        notices(memory.notices, database.notices, pairing),
        executors(memory.executors, database.executors, pairing),
        idempotency(memory.idempotency, database.idempotency, pairing),
        settings(memory.settings, database.settings, pairing),
        audit(memory.audit, database.audit, pairing),
        housekeeping(memory.housekeeping, database.housekeeping, pairing),
        auth(memory.auth, database.auth, pairing),
        secrets(memory.secrets, database.secrets, pairing),
        bulk(memory.bulk, database.bulk, pairing),
        completions(memory.completions, database.completions, pairing),
        backfills(memory.backfills, database.backfills, pairing),
        calendars(memory.calendars, database.calendars, pairing),
        workflows(memory.workflows, database.workflows, pairing),
        checkpoints(memory.checkpoints, database.checkpoints, pairing),
        streaks(memory.streaks, database.streaks, pairing),
        letters(memory.letters),
        upstream(memory.upstream, database.upstream, pairing),
        events(memory.events, database.events, pairing) {}

  Stores Ports() {
    return {identity,    segments, firing,    queues,      groups,    jobs,      runs,
            logs,        notices,  executors, idempotency, settings,  audit,     housekeeping,
            auth,        secrets,  bulk,      completions, backfills, calendars, workflows,
            checkpoints, streaks,  letters,   upstream,    events};
  }

  PairedIdentityStore identity;
  PairedSegmentStore segments;
  PairedFiringStore firing;
  PairedQueueStore queues;
  PairedGroupStore groups;
  PairedJobStore jobs;
  PairedRunStore runs;
  PairedLogStore logs;
  PairedNoticeStore notices;
  PairedExecutorStore executors;
  PairedIdempotencyStore idempotency;
  PairedSettingsStore settings;
  PairedAuditStore audit;
  PairedHousekeeping housekeeping;
  PairedAuthStore auth;
  PairedSecretStore secrets;
  PairedBulkStore bulk;
  PairedCompletionStore completions;
  PairedBackfillStore backfills;
  PairedCalendarStore calendars;
  PairedWorkflowStore workflows;
  PairedCheckpointStore checkpoints;
  PairedStreakStore streaks;
  LetterStore& letters;  // not compared: histories publish nothing
  PairedUpstreamStore upstream;
  PairedEventStore events;
};

}  // namespace carillon::test
