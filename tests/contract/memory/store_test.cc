// The store ports' contract on the memory twin.
#include "common/adapters/memory/memory_store.h"
#include "tests/contract/store_driver.h"
#include "tests/support/manual_clock.h"

namespace carillon::test {

class MemoryStoreHandle final : public StoreHandle {
 public:
  explicit MemoryStoreHandle(memory::MemoryStore& store) : store_(store) {}
  IdentityStore& identity() override { return store_; }
  SegmentStore& segments() override { return store_; }
  FiringStore& firing() override { return store_; }
  JobStore& jobs() override { return store_; }
  RunStore& runs() override { return store_; }
  LogStore& logs() override { return store_; }
  NoticeStore& notices() override { return store_; }
  ExecutorStore& executors() override { return store_; }
  IdempotencyStore& idempotency() override { return store_; }
  SettingsStore& settings() override { return store_; }
  AuditStore& audit() override { return store_; }
  Housekeeping& housekeeping() override { return store_; }
  AuthStore& auth() override { return store_; }
  SecretStore& secrets() override { return store_; }
  BulkStore& bulk() override { return store_; }
  void DamageDefinition(const StoredJob& job, bool damaged) override {
    store_.DamageDefinition(job.job_id, job.version, damaged);
  }
  void DamageSchedule(ScheduleId id, bool damaged) override { store_.DamageSchedule(id, damaged); }

 private:
  memory::MemoryStore& store_;
};

class MemoryStoreFactory {
 public:
  std::unique_ptr<StoreHandle> Open() { return std::make_unique<MemoryStoreHandle>(store_); }

 private:
  ManualClock clock_;
  memory::MemoryStore store_{clock_, {.segment_count = kSegments}};
};

using StoreFactories = ::testing::Types<MemoryStoreFactory>;

}  // namespace carillon::test

#include "tests/contract/audit_store_contract.h"
#include "tests/contract/auth_store_contract.h"
#include "tests/contract/bulk_store_contract.h"
#include "tests/contract/cancel_mode_contract.h"
#include "tests/contract/claim_contract.h"
#include "tests/contract/concurrent_store_contract.h"
#include "tests/contract/dead_letter_contract.h"
#include "tests/contract/delivery_contract.h"
#include "tests/contract/executor_store_contract.h"
#include "tests/contract/gap_contract.h"
#include "tests/contract/housekeeping_contract.h"
#include "tests/contract/idempotency_store_contract.h"
#include "tests/contract/identity_store_contract.h"
#include "tests/contract/job_list_contract.h"
#include "tests/contract/job_order_contract.h"
#include "tests/contract/job_store_contract.h"
#include "tests/contract/keyed_write_contract.h"
#include "tests/contract/list_counts_contract.h"
#include "tests/contract/log_store_contract.h"
#include "tests/contract/namespace_store_contract.h"
#include "tests/contract/notice_store_contract.h"
#include "tests/contract/outcome_unknown_contract.h"
#include "tests/contract/plain_contract.h"
#include "tests/contract/plan_contract.h"
#include "tests/contract/result_contract.h"
#include "tests/contract/run_search_contract.h"
#include "tests/contract/run_store_contract.h"
#include "tests/contract/secret_store_contract.h"
#include "tests/contract/segment_store_contract.h"
#include "tests/contract/settings_store_contract.h"
#include "tests/contract/unreadable_contract.h"
