// The store on MariaDB, in the form that the contract's driver needs.
#pragma once

#include "tests/contract/store/store_driver.h"
#include "tests/support/mariadb.h"

namespace carillon::test {

class MysqlHandle final : public StoreHandle {
 public:
  explicit MysqlHandle(std::unique_ptr<mysql::MysqlStores> stores) : stores_(std::move(stores)) {}
  IdentityStore& identity() override { return stores_->identity; }
  SchemaStore& schema() override { return stores_->schema; }
  SegmentStore& segments() override { return stores_->segments; }
  FiringStore& firing() override { return stores_->firing; }
  QueueStore& queues() override { return stores_->queues; }
  GroupStore& groups() override { return stores_->groups; }
  JobStore& jobs() override { return stores_->jobs; }
  RunStore& runs() override { return stores_->runs; }
  LogStore& logs() override { return stores_->logs; }
  NoticeStore& notices() override { return stores_->notices; }
  ExecutorStore& executors() override { return stores_->executors; }
  IdempotencyStore& idempotency() override { return stores_->idempotency; }
  SettingsStore& settings() override { return stores_->settings; }
  AuditStore& audit() override { return stores_->audit; }
  Housekeeping& housekeeping() override { return stores_->housekeeping; }
  AuthStore& auth() override { return stores_->auth; }
  SecretStore& secrets() override { return stores_->secrets; }
  BulkStore& bulk() override { return stores_->bulk; }
  CompletionStore& completions() override { return stores_->completions; }
  BackfillStore& backfills() override { return stores_->backfills; }
  CalendarStore& calendars() override { return stores_->calendars; }
  WorkflowStore& workflows() override { return stores_->workflows; }
  CheckpointStore& checkpoints() override { return stores_->checkpoints; }
  StreakStore& streaks() override { return stores_->streaks; }
  LetterStore& letters() override { return stores_->letters; }
  UpstreamStore& upstream() override { return stores_->upstream; }
  EventStore& events() override { return stores_->events; }
  void DamageDefinition(const StoredJob& job, bool damaged) override {
    const std::string text = damaged ? "CONCAT('?', definition)" : "SUBSTRING(definition, 2)";
    Run("UPDATE job_versions SET definition = " + text + " WHERE job_no = " +
        std::to_string(job.job_no.value()) + " AND version = " + std::to_string(job.version));
    stores_->identity.Forget();  // nobody else writes into a version
  }
  void DamageSchedule(ScheduleId id, bool damaged) override {
    const std::string text = damaged ? "CONCAT('?', kind)" : "SUBSTRING(kind, 2)";
    Run("UPDATE job_schedules SET kind = " + text +
        " WHERE schedule_id = " + std::to_string(id.value()));
  }
  void SetSchema(int applied, int finished) override {
    Run("INSERT IGNORE INTO schema_migrations VALUES (" + std::to_string(applied) +
        ", 'newer', '', 0, 0)");
    Run("UPDATE schema_migrations SET compatible_from = " + std::to_string(finished));
  }
  void Run(const std::string& statement) {
    const auto lease = StoreDriver::v(stores_->db.pool().Acquire("test"));
    const Status done = lease->Run(statement);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
  mysql::MysqlStores& stores() { return *stores_; }

 private:
  const std::unique_ptr<mysql::MysqlStores> stores_;
};

}  // namespace carillon::test
