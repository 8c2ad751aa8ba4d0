// The store on MariaDB as the contract's driver takes it.
#pragma once

#include "tests/contract/store_driver.h"
#include "tests/support/mariadb.h"

namespace carillon::test {

class MysqlHandle final : public StoreHandle {
 public:
  explicit MysqlHandle(std::unique_ptr<mysql::MysqlStore> store) : store_(std::move(store)) {}
  IdentityStore& identity() override { return *store_; }
  SegmentStore& segments() override { return *store_; }
  FiringStore& firing() override { return *store_; }
  JobStore& jobs() override { return *store_; }
  RunStore& runs() override { return *store_; }
  LogStore& logs() override { return *store_; }
  NoticeStore& notices() override { return *store_; }
  ExecutorStore& executors() override { return *store_; }
  AdminStore& admin() override { return *store_; }
  AuthStore& auth() override { return *store_; }
  SecretStore& secrets() override { return *store_; }
  BulkStore& bulk() override { return *store_; }
  ListCounts& counts() override { return *store_; }
  void DamageDefinition(const StoredJob& job, bool damaged) override {
    const std::string text = damaged ? "CONCAT('?', definition)" : "SUBSTRING(definition, 2)";
    Run("UPDATE job_versions SET definition = " + text + " WHERE job_no = " +
        std::to_string(job.job_no.value()) + " AND version = " + std::to_string(job.version));
  }
  void DamageSchedule(ScheduleId id, bool damaged) override {
    const std::string text = damaged ? "CONCAT('?', kind)" : "SUBSTRING(kind, 2)";
    Run("UPDATE job_schedules SET kind = " + text +
        " WHERE schedule_id = " + std::to_string(id.value()));
  }
  void Run(const std::string& statement) {
    const auto lease = StoreDriver::v(store_->pool().Acquire("test"));
    const Status done = lease->Run(statement);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
  mysql::MysqlStore& store() { return *store_; }

 private:
  const std::unique_ptr<mysql::MysqlStore> store_;
};

}  // namespace carillon::test
