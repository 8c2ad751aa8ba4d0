// The in-memory twin of the store: one adapter per port, all over the same tables.
//
// Place    Unit tests and the simulator. Passes the same contract suite as the MariaDB adapters.
// Threads  Thread-safe: each call holds the lock of the tables.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/ports/store/stores.h"
#include "tests/twins/memory_audit_store.h"
#include "tests/twins/memory_auth_store.h"
#include "tests/twins/memory_backfill_store.h"
#include "tests/twins/memory_bulk_store.h"
#include "tests/twins/memory_calendar_store.h"
#include "tests/twins/memory_checkpoint_store.h"
#include "tests/twins/memory_completion_store.h"
#include "tests/twins/memory_event_store.h"
#include "tests/twins/memory_executor_store.h"
#include "tests/twins/memory_firing_store.h"
#include "tests/twins/memory_group_store.h"
#include "tests/twins/memory_housekeeping.h"
#include "tests/twins/memory_idempotency_store.h"
#include "tests/twins/memory_identity_store.h"
#include "tests/twins/memory_job_store.h"
#include "tests/twins/memory_letter_store.h"
#include "tests/twins/memory_log_store.h"
#include "tests/twins/memory_notice_store.h"
#include "tests/twins/memory_queue_store.h"
#include "tests/twins/memory_run_store.h"
#include "tests/twins/memory_schema_store.h"
#include "tests/twins/memory_secret_store.h"
#include "tests/twins/memory_segment_store.h"
#include "tests/twins/memory_settings_store.h"
#include "tests/twins/memory_streak_store.h"
#include "tests/twins/memory_tables.h"
#include "tests/twins/memory_upstream_store.h"
#include "tests/twins/memory_workflow_store.h"

namespace carillon::memory {

struct MemoryStores {
  struct Options {
    uint32_t segment_count = 64;
    std::string store_id = "memory";
    std::string server_id = "memory";
    bool numbers_in_blocks = false;  // numbers as a database does
  };
  MemoryStores(const Clock& clock, const Options& options);
  MemoryStores(const MemoryStores&) = delete;
  MemoryStores& operator=(const MemoryStores&) = delete;

  // True if exactly the PENDING runs with `due` kQueued are in the queues of their jobs.
  bool QueuesAgree() const;
  // True if a run of the job that waits for a slot need not wait: its job has a slot.
  bool HasFreeSlot(JobNo job_no);
  // The name of the group for which the run is queued; empty = none. For observers, which are
  // called with the tables locked.
  std::string GroupAwaitedLocked(const RunKey& key) REQUIRES(tables.mu);
  // True if each delay schedule either has a next fire, or awaits a run that is open or whose
  // completion is left.
  bool DelaysAgree() const;
  // True if no completion is left to act upon.
  bool ActedOnEnds() const;
  // The observers are called after each change of a run's row, and for each completion, with the
  // tables locked.
  void ObserveRuns(MemoryTables::RunObserver observer);
  void ObserveEnds(MemoryTables::EndObserver observer);
  // Makes a stored definition, or the row of a schedule, unreadable (or readable again).
  void DamageDefinition(const JobId& id, int64_t version, bool damaged);
  void DamageSchedule(ScheduleId id, bool damaged);
  // Replaces the store's id, mark and server, as a restore or a failover does.
  void ChangeIdentity(const StoreIdentity& changed);

  Stores Ports() {
    return {identity,    segments, firing,    queues,      groups,    jobs,      runs,
            logs,        notices,  executors, idempotency, settings,  audit,     housekeeping,
            auth,        secrets,  bulk,      completions, backfills, calendars, workflows,
            checkpoints, streaks,  letters,   upstream,    events};
  }

  MemoryTables tables;
  MemoryIdentityStore identity{tables};
  MemorySchemaStore schema{tables};
  MemorySegmentStore segments;
  MemoryFiringStore firing{tables};
  MemoryQueueStore queues{tables};
  MemoryGroupStore groups{tables};
  MemoryJobStore jobs{tables};
  MemoryRunStore runs{tables};
  MemoryLogStore logs{tables};
  MemoryNoticeStore notices{tables};
  MemoryExecutorStore executors{tables};
  MemoryIdempotencyStore idempotency{tables};
  MemorySettingsStore settings{tables};
  MemoryAuditStore audit{tables};
  MemoryHousekeeping housekeeping{tables};
  MemoryAuthStore auth{tables};
  MemorySecretStore secrets{tables};
  MemoryBulkStore bulk{tables};
  MemoryCompletionStore completions{tables};
  MemoryBackfillStore backfills{tables};
  MemoryCalendarStore calendars{tables};
  MemoryWorkflowStore workflows{tables};
  MemoryCheckpointStore checkpoints{tables};
  MemoryStreakStore streaks{tables, jobs};
  MemoryLetterStore letters{tables};
  MemoryUpstreamStore upstream{tables};
  MemoryEventStore events{tables};
};

}  // namespace carillon::memory
