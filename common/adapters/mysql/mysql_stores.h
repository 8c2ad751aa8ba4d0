// The store on MariaDB or MySQL: one adapter per port, all over one database.
//
// Place    The only header of this room that the composition roots include.
// Errors   As mysql_database.h.
#pragma once

#include <memory>
#include <utility>

#include "common/adapters/mysql/access/mysql_audit_store.h"
#include "common/adapters/mysql/access/mysql_auth_store.h"
#include "common/adapters/mysql/access/mysql_idempotency_store.h"
#include "common/adapters/mysql/access/mysql_secret_store.h"
#include "common/adapters/mysql/backfill/mysql_backfill_store.h"
#include "common/adapters/mysql/completions/mysql_completion_store.h"
#include "common/adapters/mysql/database/mysql_database.h"
#include "common/adapters/mysql/events/mysql_event_store.h"
#include "common/adapters/mysql/firing/mysql_firing_store.h"
#include "common/adapters/mysql/firing/mysql_group_store.h"
#include "common/adapters/mysql/firing/mysql_queue_store.h"
#include "common/adapters/mysql/firing/mysql_segment_store.h"
#include "common/adapters/mysql/jobs/mysql_calendar_store.h"
#include "common/adapters/mysql/jobs/mysql_job_store.h"
#include "common/adapters/mysql/jobs/mysql_streak_store.h"
#include "common/adapters/mysql/notices/mysql_notice_store.h"
#include "common/adapters/mysql/operations/mysql_bulk_store.h"
#include "common/adapters/mysql/operations/mysql_executor_store.h"
#include "common/adapters/mysql/operations/mysql_housekeeping.h"
#include "common/adapters/mysql/operations/mysql_identity_store.h"
#include "common/adapters/mysql/operations/mysql_letter_store.h"
#include "common/adapters/mysql/operations/mysql_schema_store.h"
#include "common/adapters/mysql/operations/mysql_settings_store.h"
#include "common/adapters/mysql/runs/mysql_checkpoint_store.h"
#include "common/adapters/mysql/runs/mysql_log_store.h"
#include "common/adapters/mysql/runs/mysql_run_store.h"
#include "common/adapters/mysql/upstream/mysql_upstream_store.h"
#include "common/adapters/mysql/workflow/mysql_workflow_store.h"
#include "common/ports/store/stores.h"

namespace carillon::mysql {

struct MysqlStores {
  static Result<std::unique_ptr<MysqlStores>> Open(
      const MysqlOptions& options, const std::function<bool()>& interrupted = nullptr);
  explicit MysqlStores(MysqlDatabase opened) : db(std::move(opened)) {}
  MysqlStores(const MysqlStores&) = delete;
  MysqlStores& operator=(const MysqlStores&) = delete;

  // Returns the same store behind `gate`, for callers that may use it only while it is trusted:
  // otherwise writes (kWrites) or all calls (kEverything) fail. The gate must outlive it.
  std::unique_ptr<MysqlStores> Behind(StoreGate& gate, Gated gated) const;

  Stores Ports() {
    return {identity,    segments, firing,    queues,      groups,    jobs,      runs,
            logs,        notices,  executors, idempotency, settings,  audit,     housekeeping,
            auth,        secrets,  bulk,      completions, backfills, calendars, workflows,
            checkpoints, streaks,  letters,   upstream,    events};
  }

  MysqlDatabase db;
  MysqlIdentityStore identity{db};
  MysqlSchemaStore schema{db};
  MysqlSegmentStore segments{db};
  MysqlFiringStore firing{db};
  MysqlQueueStore queues{db};
  MysqlGroupStore groups{db};
  MysqlJobStore jobs{db};
  MysqlRunStore runs{db};
  MysqlLogStore logs{db};
  MysqlNoticeStore notices{db};
  MysqlExecutorStore executors{db};
  MysqlIdempotencyStore idempotency{db};
  MysqlSettingsStore settings{db};
  MysqlAuditStore audit{db};
  MysqlHousekeeping housekeeping{db};
  MysqlAuthStore auth{db};
  MysqlSecretStore secrets{db};
  MysqlBulkStore bulk{db};
  MysqlCompletionStore completions{db};
  MysqlBackfillStore backfills{db};
  MysqlCalendarStore calendars{db};
  MysqlWorkflowStore workflows{db};
  MysqlCheckpointStore checkpoints{db};
  MysqlStreakStore streaks{db};
  MysqlLetterStore letters{db};
  MysqlUpstreamStore upstream{db};
  MysqlEventStore events{db};
};

}  // namespace carillon::mysql
