// The contract of the store ports on their twin in memory.
#include "tests/contract/store/store_factory.h"
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

struct StoreFactory::Store {
  ManualClock clock;
  memory::MemoryStores stores{clock, {.segment_count = kSegments}};
};

StoreFactory::StoreFactory() : store_(std::make_unique<Store>()) {}
StoreFactory::~StoreFactory() = default;

std::unique_ptr<StoreHandle> StoreFactory::Open() {
  return std::make_unique<MemoryStoreHandle>(store_->stores);
}

}  // namespace carillon::test
