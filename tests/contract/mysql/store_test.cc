// The contract of the store, on MariaDB.
#include "tests/contract/store_driver.h"
#include "tests/support/mariadb.h"

namespace carillon::test {
namespace {

class MysqlHandle final : public StoreHandle {
 public:
  explicit MysqlHandle(std::unique_ptr<mysql::MysqlStore> store) : store_(std::move(store)) {}
  SegmentStore& segments() override { return *store_; }
  FiringStore& firing() override { return *store_; }
  JobStore& jobs() override { return *store_; }
  RunStore& runs() override { return *store_; }
  ExecutorStore& executors() override { return *store_; }
  AdminStore& admin() override { return *store_; }

 private:
  const std::unique_ptr<mysql::MysqlStore> store_;
};

}  // namespace

struct MysqlStoreFactory {
  std::unique_ptr<StoreHandle> Open() {
    return std::make_unique<MysqlHandle>(database.Open(kSegments));
  }
  MariadbDatabase database;
};
using StoreFactories = ::testing::Types<MysqlStoreFactory>;

}  // namespace carillon::test

#include "tests/contract/admin_store_contract.h"
#include "tests/contract/claim_contract.h"
#include "tests/contract/concurrent_store_contract.h"
#include "tests/contract/job_store_contract.h"
#include "tests/contract/plan_contract.h"
#include "tests/contract/result_contract.h"
#include "tests/contract/run_store_contract.h"
#include "tests/contract/segment_store_contract.h"
