// The contract of the store, on MariaDB.
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
struct MysqlStoreFactory {
  std::unique_ptr<StoreHandle> Open() {
    return std::make_unique<MysqlHandle>(database.Open(kSegments));
  }
  MariadbDatabase database;
};
using StoreFactories = ::testing::Types<MysqlStoreFactory>;

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
