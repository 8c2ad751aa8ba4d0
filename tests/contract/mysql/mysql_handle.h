// The store on MariaDB as the contract's driver takes it.
#pragma once

#include "tests/contract/store_driver.h"
#include "tests/support/mariadb.h"

namespace carillon::test {

class MysqlHandle final : public StoreHandle {
 public:
  explicit MysqlHandle(std::unique_ptr<mysql::MysqlStore> store) : store_(std::move(store)) {}
  SegmentStore& segments() override { return *store_; }
  FiringStore& firing() override { return *store_; }
  JobStore& jobs() override { return *store_; }
  RunStore& runs() override { return *store_; }
  ExecutorStore& executors() override { return *store_; }
  AdminStore& admin() override { return *store_; }
  mysql::MysqlStore& store() { return *store_; }

 private:
  const std::unique_ptr<mysql::MysqlStore> store_;
};

}  // namespace carillon::test
