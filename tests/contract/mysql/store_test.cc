// The contract of the store, on MariaDB or MySQL (tests/support/on_mysql).
#include "tests/contract/mysql/mysql_handle.h"
#include "tests/contract/store/store_factory.h"
#include "tests/support/reused_database.h"

namespace carillon::test {

struct StoreFactory::Store {
  ReusedDatabase database{kSegments};
};

StoreFactory::StoreFactory() : store_(std::make_unique<Store>()) {}
StoreFactory::~StoreFactory() = default;

std::unique_ptr<StoreHandle> StoreFactory::Open() {
  return std::make_unique<MysqlHandle>(store_->database.Open());
}

}  // namespace carillon::test
