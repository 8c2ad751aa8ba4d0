// The contract of the store, on MariaDB or MySQL (tests/support/on_mysql).
#include "tests/contract/mysql/mysql_handle.h"
#include "tests/support/reused_database.h"

namespace carillon::test {
struct MysqlStoreFactory {
  std::unique_ptr<StoreHandle> Open() {
    return std::make_unique<MysqlHandle>(database.Open());
  }
  ReusedDatabase database{kSegments};
};
using StoreFactories = ::testing::Types<MysqlStoreFactory>;

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
#include "tests/contract/store/executor_store_contract.h"
#include "tests/contract/store/gap_contract.h"
#include "tests/contract/store/group_contract.h"
#include "tests/contract/store/group_exits_contract.h"
#include "tests/contract/store/group_race_contract.h"
#include "tests/contract/store/housekeeping_contract.h"
#include "tests/contract/store/idempotency_store_contract.h"
#include "tests/contract/store/identity_store_contract.h"
#include "tests/contract/store/job_list_contract.h"
#include "tests/contract/store/job_order_contract.h"
#include "tests/contract/store/job_store_contract.h"
#include "tests/contract/store/keyed_write_contract.h"
#include "tests/contract/store/list_counts_contract.h"
#include "tests/contract/store/list_filters_contract.h"
#include "tests/contract/store/log_store_contract.h"
#include "tests/contract/store/namespace_store_contract.h"
#include "tests/contract/store/notice_store_contract.h"
#include "tests/contract/store/outcome_unknown_contract.h"
#include "tests/contract/store/plain_contract.h"
#include "tests/contract/store/plan_contract.h"
#include "tests/contract/store/queue_contract.h"
#include "tests/contract/store/queue_exits_contract.h"
#include "tests/contract/store/queue_policies_contract.h"
#include "tests/contract/store/result_contract.h"
#include "tests/contract/store/returns_contract.h"
#include "tests/contract/store/run_kinds_contract.h"
#include "tests/contract/store/run_search_contract.h"
#include "tests/contract/store/run_store_contract.h"
#include "tests/contract/store/schedule_contract.h"
#include "tests/contract/store/secret_store_contract.h"
#include "tests/contract/store/segment_store_contract.h"
#include "tests/contract/store/settings_store_contract.h"
#include "tests/contract/store/unreadable_contract.h"
#include "tests/contract/store/workflow_again_contract.h"
#include "tests/contract/store/workflow_contract.h"
#include "tests/contract/store/workflow_control_contract.h"
#include "tests/contract/store/workflow_nested_contract.h"
#include "tests/contract/store/workflow_nodes_contract.h"
