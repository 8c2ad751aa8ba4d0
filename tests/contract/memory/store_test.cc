// The store ports' contract on the memory twin.
#include "tests/contract/store/store_driver.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_store.h"

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

#include "tests/contract/store/audit_store_contract.h"
#include "tests/contract/store/auth_store_contract.h"
#include "tests/contract/store/bulk_store_contract.h"
#include "tests/contract/store/cancel_mode_contract.h"
#include "tests/contract/store/claim_contract.h"
#include "tests/contract/store/concurrent_store_contract.h"
#include "tests/contract/store/dead_letter_contract.h"
#include "tests/contract/store/delivery_contract.h"
#include "tests/contract/store/executor_store_contract.h"
#include "tests/contract/store/gap_contract.h"
#include "tests/contract/store/housekeeping_contract.h"
#include "tests/contract/store/idempotency_store_contract.h"
#include "tests/contract/store/identity_store_contract.h"
#include "tests/contract/store/job_list_contract.h"
#include "tests/contract/store/job_order_contract.h"
#include "tests/contract/store/job_store_contract.h"
#include "tests/contract/store/keyed_write_contract.h"
#include "tests/contract/store/list_counts_contract.h"
#include "tests/contract/store/log_store_contract.h"
#include "tests/contract/store/namespace_store_contract.h"
#include "tests/contract/store/notice_store_contract.h"
#include "tests/contract/store/outcome_unknown_contract.h"
#include "tests/contract/store/plain_contract.h"
#include "tests/contract/store/plan_contract.h"
#include "tests/contract/store/result_contract.h"
#include "tests/contract/store/run_search_contract.h"
#include "tests/contract/store/run_store_contract.h"
#include "tests/contract/store/secret_store_contract.h"
#include "tests/contract/store/segment_store_contract.h"
#include "tests/contract/store/settings_store_contract.h"
#include "tests/contract/store/unreadable_contract.h"
