// The contract of the store ports on their twin in memory.
#include "tests/contract/store/store_driver.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::test {

class MemoryStoreHandle final : public StoreHandle {
 public:
  explicit MemoryStoreHandle(memory::MemoryStores& stores) : stores_(stores) {}
  IdentityStore& identity() override { return stores_.identity; }
  SchemaStore& schema() override { return stores_.schema; }
  SegmentStore& segments() override { return stores_.segments; }
  FiringStore& firing() override { return stores_.firing; }
  QueueStore& queues() override { return stores_.queues; }
  GroupStore& groups() override { return stores_.groups; }
  JobStore& jobs() override { return stores_.jobs; }
  RunStore& runs() override { return stores_.runs; }
  LogStore& logs() override { return stores_.logs; }
  NoticeStore& notices() override { return stores_.notices; }
  ExecutorStore& executors() override { return stores_.executors; }
  IdempotencyStore& idempotency() override { return stores_.idempotency; }
  SettingsStore& settings() override { return stores_.settings; }
  AuditStore& audit() override { return stores_.audit; }
  Housekeeping& housekeeping() override { return stores_.housekeeping; }
  AuthStore& auth() override { return stores_.auth; }
  SecretStore& secrets() override { return stores_.secrets; }
  BulkStore& bulk() override { return stores_.bulk; }
  CompletionStore& completions() override { return stores_.completions; }
  BackfillStore& backfills() override { return stores_.backfills; }
  CalendarStore& calendars() override { return stores_.calendars; }
  WorkflowStore& workflows() override { return stores_.workflows; }
  CheckpointStore& checkpoints() override { return stores_.checkpoints; }
  StreakStore& streaks() override { return stores_.streaks; }
  LetterStore& letters() override { return stores_.letters; }
  UpstreamStore& upstream() override { return stores_.upstream; }
  EventStore& events() override { return stores_.events; }
  void DamageDefinition(const StoredJob& job, bool damaged) override {
    stores_.DamageDefinition(job.job_id, job.version, damaged);
  }
  void DamageSchedule(ScheduleId id, bool damaged) override { stores_.DamageSchedule(id, damaged); }
  void SetSchema(int applied, int finished) override {
    MutexLock lock(stores_.tables.mu);
    stores_.tables.schema.applied = applied;
    stores_.tables.schema.finished = finished;
  }

 private:
  memory::MemoryStores& stores_;
};

class MemoryStoreFactory {
 public:
  std::unique_ptr<StoreHandle> Open() { return std::make_unique<MemoryStoreHandle>(stores_); }

 private:
  ManualClock clock_;
  memory::MemoryStores stores_{clock_, {.segment_count = kSegments}};
};

using StoreFactories = ::testing::Types<MemoryStoreFactory>;

}  // namespace carillon::test

#include "tests/contract/store/audit_store_contract.h"
#include "tests/contract/store/auth_store_contract.h"
#include "tests/contract/store/backfill_contract.h"
#include "tests/contract/store/backfill_control_contract.h"
#include "tests/contract/store/backfill_slots_contract.h"
#include "tests/contract/store/bulk_store_contract.h"
#include "tests/contract/store/calendar_store_contract.h"
#include "tests/contract/store/cancel_mode_contract.h"
#include "tests/contract/store/checkpoint_contract.h"
#include "tests/contract/store/claim_contract.h"
#include "tests/contract/store/concurrent_store_contract.h"
#include "tests/contract/store/dead_letter_contract.h"
#include "tests/contract/store/delay_contract.h"
#include "tests/contract/store/delivery_contract.h"
#include "tests/contract/store/dependents_contract.h"
#include "tests/contract/store/dependents_fires_contract.h"
#include "tests/contract/store/due_values_contract.h"
#include "tests/contract/store/event_edits_contract.h"
#include "tests/contract/store/events_contract.h"
#include "tests/contract/store/executor_store_contract.h"
#include "tests/contract/store/gap_contract.h"
#include "tests/contract/store/group_contract.h"
#include "tests/contract/store/group_exits_contract.h"
#include "tests/contract/store/group_race_contract.h"
#include "tests/contract/store/group_time_contract.h"
#include "tests/contract/store/housekeeping_contract.h"
#include "tests/contract/store/idempotency_store_contract.h"
#include "tests/contract/store/identity_store_contract.h"
#include "tests/contract/store/job_list_contract.h"
#include "tests/contract/store/job_order_contract.h"
#include "tests/contract/store/job_store_contract.h"
#include "tests/contract/store/kept_parameters_contract.h"
#include "tests/contract/store/kept_runs_contract.h"
#include "tests/contract/store/keyed_write_contract.h"
#include "tests/contract/store/letter_contract.h"
#include "tests/contract/store/list_counts_contract.h"
#include "tests/contract/store/list_filters_contract.h"
#include "tests/contract/store/log_store_contract.h"
#include "tests/contract/store/namespace_store_contract.h"
#include "tests/contract/store/notice_store_contract.h"
#include "tests/contract/store/outcome_unknown_contract.h"
#include "tests/contract/store/parts_again_contract.h"
#include "tests/contract/store/parts_contract.h"
#include "tests/contract/store/parts_control_contract.h"
#include "tests/contract/store/parts_nodes_contract.h"
#include "tests/contract/store/parts_readers_contract.h"
#include "tests/contract/store/parts_skips_contract.h"
#include "tests/contract/store/parts_total_contract.h"
#include "tests/contract/store/plain_contract.h"
#include "tests/contract/store/plan_contract.h"
#include "tests/contract/store/queue_contract.h"
#include "tests/contract/store/queue_exits_contract.h"
#include "tests/contract/store/queue_policies_contract.h"
#include "tests/contract/store/result_contract.h"
#include "tests/contract/store/returns_contract.h"
#include "tests/contract/store/run_kinds_contract.h"
#include "tests/contract/store/run_rights_contract.h"
#include "tests/contract/store/run_search_contract.h"
#include "tests/contract/store/run_store_contract.h"
#include "tests/contract/store/schedule_contract.h"
#include "tests/contract/store/schema_store_contract.h"
#include "tests/contract/store/secret_store_contract.h"
#include "tests/contract/store/segment_store_contract.h"
#include "tests/contract/store/settings_store_contract.h"
#include "tests/contract/store/streak_contract.h"
#include "tests/contract/store/unreadable_contract.h"
#include "tests/contract/store/upstream_backfills_contract.h"
#include "tests/contract/store/upstream_causes_contract.h"
#include "tests/contract/store/upstream_contract.h"
#include "tests/contract/store/upstream_edits_contract.h"
#include "tests/contract/store/upstream_nodes_contract.h"
#include "tests/contract/store/upstream_sources_contract.h"
#include "tests/contract/store/workflow_again_contract.h"
#include "tests/contract/store/workflow_approval_contract.h"
#include "tests/contract/store/workflow_contract.h"
#include "tests/contract/store/workflow_control_contract.h"
#include "tests/contract/store/workflow_finally_contract.h"
#include "tests/contract/store/workflow_map_contract.h"
#include "tests/contract/store/workflow_nested_contract.h"
#include "tests/contract/store/workflow_nodes_contract.h"
#include "tests/contract/store/workflow_retries_contract.h"
#include "tests/contract/store/workflow_rights_contract.h"
#include "tests/contract/store/workflow_rules_contract.h"
#include "tests/contract/store/workflow_task_contract.h"
