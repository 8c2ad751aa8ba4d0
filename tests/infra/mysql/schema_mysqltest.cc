// Migrations, and the checks of the server and its database before they are used.
#include <future>

#include "common/adapters/mysql/client/named_lock.h"
#include "common/adapters/mysql/client/server_checks.h"
#include "common/adapters/mysql/schema/migrations.h"
#include "common/adapters/system/system_clock.h"
#include "tests/infra/mysql/schema_fixture.h"

namespace carillon::test {
namespace {

const std::vector<mysql::Migration> kFirst = {
    {1, "first", "-- a comment; with a semicolon\nCREATE TABLE IF NOT EXISTS a (n INT);\n"}};
const std::vector<mysql::Migration> kSecond = {
    kFirst[0], {2, "second", "CREATE TABLE IF NOT EXISTS b (n INT);\nINSERT INTO b VALUES (1);\n"}};

TEST_F(SchemaTest, MigrationsAreAppliedOnceAndInOrder) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::Migrate(*session, kSecond));
  ASSERT_OK(mysql::Migrate(*session, kSecond));
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM b"), 1);
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM schema_migrations"), 2);
}

TEST_F(SchemaTest, NewerSchemaIsRefused) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kSecond));
  EXPECT_CODE(mysql::Migrate(*session, kFirst), ErrorCode::kConflict);
}

// Two migrations. A program that knows only version 1 can work with the first one, but not with the
// second one.
const mysql::Migration kCompatible = {
    2, "compatible", "-- Adds a column.\n-- compatible_from: 1\nALTER TABLE a ADD m INT NULL;\n"};
const mysql::Migration kNeedsSecond = {
    3, "needs_second", "-- compatible_from: 2\nCREATE TABLE IF NOT EXISTS c (n INT);\n"};

TEST_F(SchemaTest, ProgramThatIsOlderStartsBesideACompatibleSchema) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM schema_migrations"), 2);
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
}

TEST_F(SchemaTest, EachMigrationThatIsNewerMustBeCompatible) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible, kNeedsSecond}));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
  const Status refused = mysql::Migrate(*session, kFirst);
  EXPECT_CODE(refused, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("migration 0003 needs a program that knows 2"),
            std::string::npos)
      << refused.error().message;
  const auto another = database_.Connect();
  ASSERT_OK(another->Run("DELETE FROM schema_migrations WHERE version = 3"));
  ASSERT_OK(mysql::Migrate(*another, kFirst));
}

// A newer schema is accepted only if it contains all migrations of the older program.
TEST_F(SchemaTest, ProgramOfAnotherLineAppliesNothingToANewerSchema) {
  const auto session = EmptyDatabase();
  const mysql::Migration other = {2, "other", "CREATE TABLE IF NOT EXISTS other (n INT);\n"};
  const mysql::Migration newer = {3, "newer",
                                  "-- compatible_from: 1\nCREATE TABLE IF NOT EXISTS c (n INT);\n"};
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], newer}));
  EXPECT_CODE(mysql::Migrate(*session, {kFirst[0], other}), ErrorCode::kConflict);
  EXPECT_EQ(Number(*session,
                   "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                   "DATABASE() AND TABLE_NAME = 'other'"),
            0);
}

TEST_F(SchemaTest, FinishLocksOutTheProgramBefore) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
  EXPECT_EQ(StoreDriver::v(mysql::ReadLevels(*session, 2)),
            (SchemaLevels{.known = 2, .applied = 2, .finished = 1}));
  ASSERT_OK(mysql::FinishSchema(*session));
  EXPECT_EQ(StoreDriver::v(mysql::ReadLevels(*session, 2)),
            (SchemaLevels{.known = 2, .applied = 2, .finished = 2}));
  EXPECT_CODE(mysql::Migrate(*session, kFirst), ErrorCode::kConflict);
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
}

TEST_F(SchemaTest, NewStoreIsFinishedFromItsBirth) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
  EXPECT_EQ(StoreDriver::v(mysql::ReadLevels(*session, 2)).finished, 2);
}

// The older program waits at its start, so it sees the outcome.
TEST_F(SchemaTest, ProgramThatStartsDuringAFinishIsRefusedAfterIt) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
  const auto finisher = database_.Connect();
  ASSERT_TRUE(StoreDriver::v(mysql::TakeLock(*finisher, mysql::StoreLock::kMigrate, 0s)));
  auto started = std::async(std::launch::async, [&] { return mysql::Migrate(*session, kFirst); });
  EXPECT_EQ(started.wait_for(300ms), std::future_status::timeout);
  ASSERT_OK(mysql::FinishSchema(*finisher));
  ASSERT_OK(mysql::ReleaseLock(*finisher, mysql::StoreLock::kMigrate));
  EXPECT_CODE(started.get(), ErrorCode::kConflict);
}

TEST_F(SchemaTest, FinishNeedsTheConnectionThatHoldsTheLock) {
  const auto store = database_.Open(1);
  const auto session = database_.Connect();
  ASSERT_OK(session->Run("UPDATE schema_migrations SET compatible_from = 0"));
  const auto hold = StoreDriver::v(store->schema.Hold());
  EXPECT_FALSE(StoreDriver::v(mysql::TakeLock(*session, mysql::StoreLock::kMigrate, 0s)));
  const int64_t holder =
      Number(*session,
             "SELECT IS_USED_LOCK(CONCAT('carillon.migrate.', LEFT(SHA2(DATABASE(), 256), 32)))");
  ASSERT_OK(session->Run("KILL " + std::to_string(holder)));
  ASSERT_TRUE(StoreDriver::v(mysql::TakeLock(*session, mysql::StoreLock::kMigrate, 10s)));
  EXPECT_FALSE(hold->Finish().ok()) << "a member may be starting";
  EXPECT_EQ(StoreDriver::v(store->schema.ReadLevels()).finished, 0);
  ASSERT_OK(mysql::ReleaseLock(*session, mysql::StoreLock::kMigrate));
  ASSERT_OK(StoreDriver::v(store->schema.Hold())->Finish());
  EXPECT_EQ(StoreDriver::v(store->schema.ReadLevels()).finished,
            mysql::EmbeddedMigrations().back().version);
}

TEST_F(SchemaTest, IncompleteStoreHasNoLevel) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(mysql::MarkIncomplete(*session));
  EXPECT_CODE(mysql::ReadLevels(*session, 1), ErrorCode::kConflict);
}

// While the migration waits for a long read of the table, the statements of others pass.
TEST_F(SchemaTest, MigrationLetsOthersPassWhileItWaits) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  ASSERT_OK(session->Run("INSERT INTO a VALUES (1)"));
  const auto other = database_.Connect();
  const auto reader = database_.Connect();
  auto read =
      std::async(std::launch::async, [&] { return reader->Ask("SELECT n, SLEEP(4) FROM a").ok(); });
  const std::string reading = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " +
                              std::to_string(reader->connection_id()) + " AND INFO LIKE '%SLEEP%'";
  while (Number(*other, reading) == 0 && read.wait_for(10ms) == std::future_status::timeout) {
  }
  auto migrated = std::async(std::launch::async, [&] {
    return mysql::Migrate(*session, {kFirst[0], kCompatible});
  });
  const SystemClock clock;
  Duration longest{};
  do {
    const SteadyTime begun = clock.Steady();
    Number(*other, "SELECT COUNT(*) FROM a");
    longest = std::max<Duration>(longest, clock.Steady() - begun);
  } while (migrated.wait_for(20ms) == std::future_status::timeout);
  EXPECT_TRUE(read.get());
  ASSERT_OK(migrated.get());
  EXPECT_LT(longest, 2s);
  EXPECT_EQ(Number(*other, "SELECT COUNT(m IS NULL) FROM a"), 1);
}

TEST_F(SchemaTest, MigrationWaitsForABackup) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  const auto backup = database_.Connect();
  ASSERT_TRUE(StoreDriver::v(mysql::TakeLock(*backup, mysql::StoreLock::kMaintain, 0s)));
  auto migrated = std::async(std::launch::async, [&] {
    return mysql::Migrate(*session, {kFirst[0], kCompatible});
  });
  EXPECT_EQ(migrated.wait_for(300ms), std::future_status::timeout);
  EXPECT_EQ(Number(*backup, "SELECT COUNT(*) FROM schema_migrations"), 1);
  ASSERT_OK(mysql::ReleaseLock(*backup, mysql::StoreLock::kMaintain));
  ASSERT_OK(migrated.get());
}

TEST_F(SchemaTest, AMigrationThatWaitsForABackupKeepsNoOtherMemberFromStarting) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  const auto backup = database_.Connect();
  ASSERT_TRUE(StoreDriver::v(mysql::TakeLock(*backup, mysql::StoreLock::kMaintain, 0s)));
  const auto other = database_.Connect();
  Status started(ErrorCode::kInvalid, "it has not waited");
  const auto start_other_and_stop = [&] {
    started = mysql::Migrate(*other, kFirst, {.interrupted = [] { return true; }});
    return true;
  };
  const std::vector<mysql::Migration> both = {kFirst[0], kCompatible};
  EXPECT_CODE(mysql::Migrate(*session, both, {.interrupted = start_other_and_stop}),
              ErrorCode::kUnavailable);
  EXPECT_OK(started);
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM schema_migrations"), 1);
}

TEST_F(SchemaTest, AStartThatWaitsForABackupCanBeInterrupted) {
  EmptyDatabase();
  const auto backup = database_.Connect();
  ASSERT_TRUE(StoreDriver::v(mysql::TakeLock(*backup, mysql::StoreLock::kMaintain, 0s)));
  EXPECT_CODE(mysql::MysqlStores::Open(database_.Options(), [] { return true; }),
              ErrorCode::kUnavailable);
}

// The session has read the table `a` in a transaction that is still open.
void ReadAndStay(mysql::Session& session) {
  ASSERT_OK(LetIdleInTransactions(session));
  ASSERT_OK(session.Begin());
  ASSERT_OK(session.Ask("SELECT n FROM a"));
}

TEST_F(SchemaTest, AfterALongTryAMigrationWaitsLongerForItsTable) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  const auto reader = database_.Connect();
  ReadAndStay(*reader);
  int64_t wait = 0;
  const auto end_read = [&] {
    wait = Number(*session, "SELECT @@lock_wait_timeout");
    EXPECT_OK(reader->Commit());
    return false;
  };
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible},
                           {.interrupted = end_read, .long_try = 0s}));
  EXPECT_EQ(wait, 10);
}

TEST_F(SchemaTest, AMigrationGivesUpATableThatStaysInUse) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  const auto reader = database_.Connect();
  ReadAndStay(*reader);
  const std::vector<mysql::Migration> both = {kFirst[0], kCompatible};
  int pauses = 0;
  const auto count = [&] { return ++pauses > 0; };
  EXPECT_CODE(mysql::Migrate(*session, both, {.interrupted = count, .statement_tries_for = 0s}),
              ErrorCode::kUnavailable);
  EXPECT_EQ(pauses, 0);
  ASSERT_OK(reader->Commit());
  const auto other = database_.Connect();
  ASSERT_OK(mysql::Migrate(*other, both));
}

TEST_F(SchemaTest, StoreWorksBesideACompatibleSchemaAndRefusesAnother) {
  database_.Open(8);
  const auto session = database_.Connect();
  std::vector<mysql::Migration> newer = mysql::EmbeddedMigrations();
  const int version = newer.back().version;
  const std::string compatible = "-- compatible_from: " + std::to_string(version) +
                                 "\nALTER TABLE jobs ADD of_the_future INT NOT NULL DEFAULT 0;\n";
  newer.push_back({version + 1, "compatible", compatible});
  ASSERT_OK(mysql::Migrate(*session, newer));
  {
    const auto store = database_.Open(8);
    const JobDefinition definition{.name = "a", .type = JobType::kNoop};
    StoreDriver::v(store->jobs.CreateJob(JobId("a"), definition, {.now = kT0}));
    EXPECT_EQ(StoreDriver::v(store->jobs.GetJob(JobId("a"))).definition, definition);
  }
  newer.push_back({version + 2, "not_compatible", "CREATE TABLE IF NOT EXISTS f (n INT);\n"});
  const auto again = database_.Connect();
  ASSERT_OK(mysql::Migrate(*again, newer));
  EXPECT_CODE(mysql::MysqlStores::Open(database_.Options()), ErrorCode::kConflict);
}

TEST_F(SchemaTest, HeaderSaysWhatAMigrationIsCompatibleWith) {
  const auto from = [](std::string_view text) {
    return mysql::CompatibleFrom({.version = 7, .name = "x", .text = text});
  };
  EXPECT_EQ(from("CREATE TABLE t (n INT);\n"), 7);
  EXPECT_EQ(from("-- compatible_from: 5\nCREATE TABLE t (n INT);\n"), 5);
  EXPECT_EQ(from("-- A table.\n-- compatible_from: 6\nCREATE TABLE t (n INT);\n"), 6);
  // A line that cannot be read, or that names a version that is too new, counts as not compatible.
  for (const char* text :
       {"-- compatible_from: \n", "-- compatible_from: 5x\n", "-- compatible_from: -1\n",
        "-- compatible_from: 0\n", "-- compatible_from: 8\n", "-- compatible_from: 5 \n",
        "CREATE TABLE t (n INT);\n-- compatible_from: 5\n", "--", ""}) {
    EXPECT_EQ(from(text), 7) << text;
  }
}

// Members of the release before work with each migration until the upgrade is finished.
TEST_F(SchemaTest, MigrationsOfThisProgramAreCompatibleWithTheReleaseBefore) {
  for (const mysql::Migration& migration : mysql::EmbeddedMigrations()) {
    if (migration.version == kFirstSchema) continue;
    EXPECT_LT(mysql::CompatibleFrom(migration), migration.version) << migration.name;
  }
}

TEST_F(SchemaTest, ChangedMigrationIsRefused) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  std::vector<mysql::Migration> changed = kSecond;
  changed[0].text = "CREATE TABLE IF NOT EXISTS c (n INT);\n";
  EXPECT_CODE(mysql::Migrate(*session, changed), ErrorCode::kConflict);
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM schema_migrations"), 1);
}

TEST_F(SchemaTest, MigrationThatWasCutShortIsStartedOver) {
  auto session = EmptyDatabase();
  const std::vector<mysql::Migration> broken = {
      {1, "first", "CREATE TABLE IF NOT EXISTS a (n INT);\nTHIS IS NO STATEMENT;\n"}};
  EXPECT_FALSE(mysql::Migrate(*session, broken).ok());
  session.reset();  // this also releases its lock
  const auto again = database_.Connect();
  EXPECT_EQ(Number(*again, "SELECT COUNT(*) FROM schema_migrations"), 0);
  ASSERT_OK(mysql::Migrate(*again, kFirst));
}

TEST_F(SchemaTest, MigrationsOfThisProgramCanBeStartedOver) {
  const auto store = database_.Open(8);
  const auto session = database_.Connect();
  const JobDefinition definition{.name = "a", .type = JobType::kNoop};
  StoreDriver::v(store->jobs.CreateJob(JobId("a"), definition, {.now = kT0}));
  ASSERT_OK(session->Run("DELETE FROM schema_migrations"));
  ASSERT_OK(mysql::Migrate(*session, mysql::EmbeddedMigrations()));
  EXPECT_EQ(StoreDriver::v(store->jobs.GetJob(JobId("a"))).definition, definition);
}

TEST_F(SchemaTest, AnAlterThatWasMadeBeforeCountsAsDone) {
  const auto session = EmptyDatabase();
  const mysql::Migration alters = {
      2, "alters",
      "ALTER TABLE a ADD COLUMN m INT NULL, ADD KEY by_m (m);\n"
      "ALTER TABLE a ADD KEY by_n (n);\nCREATE TABLE IF NOT EXISTS b (n INT);\n"};
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  // The program was killed after the second statement.
  ASSERT_OK(
      session->Run("ALTER TABLE a ADD COLUMN m INT NULL, ADD KEY by_m (m), ADD KEY by_n (n)"));
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], alters}));
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM b"), 0);
  const mysql::Migration wrong = {3, "wrong", "ALTER TABLE a DROP COLUMN o;\n"};
  EXPECT_FALSE(mysql::Migrate(*session, {kFirst[0], alters, wrong}).ok());
}

// A store of 0.1.0 with runs, whose table has partitions.
TEST_F(SchemaTest, RunsOfTheFirstReleaseHaveOneShardAfterTheMigrations) {
  const auto session = EmptyDatabase();
  const std::vector<mysql::Migration>& all = mysql::EmbeddedMigrations();
  ASSERT_OK(mysql::Migrate(*session, {all.front()}));
  ASSERT_OK(session->Run(
      "ALTER TABLE job_runs REORGANIZE PARTITION p_future INTO (PARTITION p_day VALUES LESS THAN "
      "(1000), PARTITION p_future VALUES LESS THAN MAXVALUE)"));
  ASSERT_OK(session->Run(
      "INSERT INTO job_runs (fire_us, schedule_id, job_no, segment, kind, state, due_us, "
      "def_version) VALUES (5, 1, 1, 1, 'CRON', 'PENDING', 5, 1), (2000, 1, 1, 1, 'WORKFLOW', "
      "'COMPLETED', 5, 1)"));
  ASSERT_OK(mysql::Migrate(*session, all));
  EXPECT_EQ(Number(*session,
                   "SELECT SUM(shard_total) + 10 * SUM(kind = 'CRON' AND fire_us = 5) + 100 * "
                   "SUM(kind = 'WORKFLOW' AND fire_us = 2000) FROM job_runs"),
            112);
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM job_logs"), 0);
}

TEST_F(SchemaTest, MembersThatStartTogetherMakeOneStore) {
  std::vector<std::future<std::string>> members;
  for (int i = 0; i < 4; ++i) {
    members.push_back(std::async(std::launch::async, [this] {
      const auto store = database_.Open(8);
      return store->identity.Identify().value().store_id;
    }));
  }
  std::set<std::string> ids;
  for (auto& member : members) ids.insert(member.get());
  EXPECT_EQ(ids.size(), 1u);
  const auto session = database_.Connect();
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM segments"), 8);
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM schema_migrations"),
            static_cast<int64_t>(mysql::EmbeddedMigrations().size()));
}

TEST_F(SchemaTest, ExistingStoreKeepsItsSegments) {
  database_.Open(8);
  EXPECT_EQ(StoreDriver::v(database_.Open(16)->identity.Identify()).segment_count, 8u);
}

TEST_F(SchemaTest, ServerThatCannotKeepWhatItConfirmsIsRefused) {
  mysql::MysqlOptions options = database_.Options();
  options.check_server = true;
  const auto refused = mysql::MysqlStores::Open(options);  // the shared server is not durable
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("innodb_flush_log_at_trx_commit = 0"), std::string::npos)
      << refused.error().message;
  const auto session = database_.Connect();
  ASSERT_OK(session->Run("SET GLOBAL innodb_flush_log_at_trx_commit = 1"));
  EXPECT_OK(mysql::MysqlStores::Open(options));
  ASSERT_OK(session->Run("SET GLOBAL innodb_flush_log_at_trx_commit = 0"));
}

TEST_F(SchemaTest, ServersThatDoNotDo) {
  const mysql::ServerVariables good = {{"innodb_flush_log_at_trx_commit", "1"},
                                       {"log_bin", "ON"},
                                       {"sync_binlog", "1"},
                                       {"read_only", "OFF"},
                                       {"max_allowed_packet", "16777216"}};
  EXPECT_OK(mysql::JudgeServer(good));
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"innodb_flush_log_at_trx_commit", "2"},
           {"sync_binlog", "0"},
           {"read_only", "ON"},
           {"wsrep_on", "ON"},
           {"group_replication_single_primary_mode", "OFF"},
           {"max_allowed_packet", "1048576"},
           {"binlog_format", "STATEMENT"}}) {
    mysql::ServerVariables bad = good;
    bad[name] = value;
    const Status judged = mysql::JudgeServer(bad);
    ASSERT_FALSE(judged.ok()) << name;
    EXPECT_EQ(judged.code(), ErrorCode::kConflict);
    EXPECT_NE(judged.error().message.find(name), std::string::npos);
  }
  mysql::ServerVariables without_log = good;
  without_log["log_bin"] = "OFF";
  without_log["sync_binlog"] = "0";
  without_log["binlog_format"] = "STATEMENT";
  EXPECT_OK(mysql::JudgeServer(without_log));
}

TEST(ServerVersionTest, ServersThatAreTooOldAreRefused) {
  for (const char* version :
       {"5.7.44-log", "8.0.15", "8.0.29", "10.5.28-MariaDB", "10.3.39-MariaDB-0+deb10u2"}) {
    const Status judged = mysql::JudgeServer({{"version", version}});
    EXPECT_EQ(judged.ok(), false) << version;
    EXPECT_NE(judged.error().message.find(version), std::string::npos) << judged.error().message;
  }
  for (const char* version : {"8.0.30", "8.4.3", "9.7.4-2", "10.6.0-MariaDB",
                              "10.11.14-MariaDB-0+deb12u2", "11.4.2-MariaDB"}) {
    EXPECT_OK(mysql::JudgeServer({{"version", version}}));
  }
}

TEST_F(SchemaTest, WrongUserIsDeniedAndNoServerIsUnavailable) {
  mysql::MysqlOptions options = database_.Options();
  options.session.user = "nobody_of_that_name";
  EXPECT_CODE(mysql::MysqlStores::Open(options), ErrorCode::kDenied);
  options = database_.Options();
  options.session.socket_path += ".none";
  EXPECT_CODE(mysql::MysqlStores::Open(options), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace carillon::test
