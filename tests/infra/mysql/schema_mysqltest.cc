// Migrations, and the checks of the server and its database before they are used.
#include <future>

#include "common/adapters/mysql/client/server_checks.h"
#include "common/adapters/mysql/schema/migrations.h"
#include "common/wire/json/job/job_json.h"
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
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
  ASSERT_OK(mysql::Migrate(*session, kFirst));
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM schema_migrations"), 2);
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], kCompatible}));
}

TEST_F(SchemaTest, EachMigrationThatIsNewerMustBeCompatible) {
  const auto session = EmptyDatabase();
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
  ASSERT_OK(mysql::Migrate(*session, {kFirst[0], newer}));
  EXPECT_CODE(mysql::Migrate(*session, {kFirst[0], other}), ErrorCode::kConflict);
  EXPECT_EQ(Number(*session,
                   "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
                   "DATABASE() AND TABLE_NAME = 'other'"),
            0);
}

// The table of migrations as programs wrote it before it had this column. Its rows count as not
// compatible with older programs.
TEST_F(SchemaTest, TableOfMigrationsOfBeforeGetsTheColumn) {
  const auto session = EmptyDatabase();
  ASSERT_OK(mysql::Migrate(*session, kSecond));
  ASSERT_OK(session->Run("ALTER TABLE schema_migrations DROP COLUMN compatible_from"));
  EXPECT_CODE(mysql::Migrate(*session, kFirst), ErrorCode::kConflict);
  ASSERT_OK(mysql::Migrate(*session, {kSecond[0], kSecond[1], kNeedsSecond}));
  EXPECT_EQ(Number(*session, "SELECT SUM(compatible_from) FROM schema_migrations"), 2);
  ASSERT_OK(mysql::Migrate(*session, kSecond));
  EXPECT_CODE(mysql::Migrate(*session, kFirst), ErrorCode::kConflict);
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

TEST_F(SchemaTest, MigrationsOfThisProgramDeclareNothingThatCannotBeRead) {
  for (const mysql::Migration& migration : mysql::EmbeddedMigrations()) {
    const bool declares = migration.text.find("compatible_from") != std::string_view::npos;
    EXPECT_EQ(declares, mysql::CompatibleFrom(migration) < migration.version) << migration.name;
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

TEST_F(SchemaTest, TheTokenOfBeforeKeepsWorking) {
  const auto session = EmptyDatabase();
  std::vector<mysql::Migration> before = mysql::EmbeddedMigrations();
  std::erase_if(before, [](const mysql::Migration& migration) { return migration.version > 4; });
  ASSERT_OK(mysql::Migrate(*session, before));
  ASSERT_OK(
      session->Run("INSERT INTO tokens (token_hash, name, role, created_us) VALUES "
                   "('0123456789abcdef0123', 'admin', 'admin', 5)"));
  const auto store = database_.Open(8);
  const auto found = store->auth.FindToken("0123456789abcdef0123");
  ASSERT_OK(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->token.role, "admin");
  EXPECT_EQ((*found)->token.token_id, "tok-0123456789abcdef");
  EXPECT_EQ((*found)->token.expires, std::nullopt);
  EXPECT_EQ((*found)->owner, std::nullopt);
  EXPECT_EQ(store->auth.CreateFirstToken({"x", "admin", "admin", kT0, "tok-x"}).code(),
            ErrorCode::kExists);
}

TEST_F(SchemaTest, RunsThatEndedBeforeTheIndexOfEndsAreFoundByIt) {
  const auto session = EmptyDatabase();
  std::vector<mysql::Migration> before = mysql::EmbeddedMigrations();
  std::erase_if(before, [](const mysql::Migration& migration) { return migration.version > 9; });
  ASSERT_OK(mysql::Migrate(*session, before));
  ASSERT_OK(session->Run(
      "INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, "
      "pause_reason, name, type, command, priority, timeout, retry_count, retry_interval, "
      "retry_backoff, retry_intervals, on_lost, overlap_policy, create_time, update_time) VALUES "
      "(7, 'old', 0, 1, 9, 1, '', 'old', 'noop', '', 0, 0, 0, 0, 'fixed', '', 'fail', 'allow', "
      "NOW(), NOW())"));
  ASSERT_OK(session->Run(
      "INSERT INTO job_runs (fire_us, schedule_id, job_no, segment, open_segment, kind, state, "
      "due_us, def_version) VALUES (10, 9, 7, 0, NULL, 'MANUAL', 'FAILED', 10, 1), (11, 9, 7, 0, "
      "NULL, 'MANUAL', 'COMPLETED', 11, 1), (12, 9, 7, 0, 0, 'MANUAL', 'RUNNING', 12, 1)"));
  const auto store = database_.Open(8);
  const RunPage failed =
      StoreDriver::v(store->runs.ListRuns({.states = {RunState::kFailed, RunState::kLost}}, kT0));
  ASSERT_EQ(failed.runs.size(), 1u);
  EXPECT_EQ(failed.runs[0].row.key.fire, FromUnixMicros(10));
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM job_runs WHERE ended_as IS NULL"), 2);
}

TEST_F(SchemaTest, JobsOfBeforeAreInDefaultAndUsersOfBeforeHaveNoShares) {
  const auto session = EmptyDatabase();
  std::vector<mysql::Migration> before = mysql::EmbeddedMigrations();
  std::erase_if(before, [](const mysql::Migration& migration) { return migration.version > 10; });
  ASSERT_OK(mysql::Migrate(*session, before));
  const JobDefinition written{.name = "old", .type = JobType::kNoop, .user_id = "user-anna"};
  std::string text = DefinitionToText(written);
  const std::string named = R"("namespace":"default",)";
  ASSERT_NE(text.find(named), std::string::npos) << text;
  text.erase(text.find(named), named.size());  // as older programs wrote it
  ASSERT_OK(session->Run(
      "INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, "
      "pause_reason, user_id, name, type, command, priority, timeout, retry_count, retry_interval, "
      "retry_backoff, retry_intervals, on_lost, overlap_policy, create_time, update_time) VALUES "
      "(7, 'old', 0, 1, 9, 1, '', 'user-anna', 'old', 'noop', '', 0, 0, 0, 0, 'fixed', '', 'fail', "
      "'allow', NOW(), NOW())"));
  ASSERT_OK(session->Execute(
      "INSERT INTO job_versions (job_no, version, name, definition) VALUES (7, 1, 'old', ?)",
      {text}));
  ASSERT_OK(session->Run(
      "INSERT INTO users (user_id, name, role, password_hash, created_us, updated_us) VALUES "
      "('user-anna', 'anna', 'user', 'x', 1, 1)"));
  const auto store = database_.Open(8);
  const StoredJob job = StoreDriver::v(store->jobs.GetJob(JobId("old")));
  EXPECT_EQ(job.definition, written);  // so applying the same definition again changes nothing
  EXPECT_EQ(job.definition.name_space, "default");
  EXPECT_EQ(StoreDriver::v(store->jobs.ListNamespaces("", 5)), std::vector<std::string>{"default"});
  EXPECT_EQ(
      StoreDriver::v(store->jobs.ListJobs({.namespaces = {"default"}, .name = "old", .limit = 2}))
          .jobs.size(),
      1u);
  UserRecord user = StoreDriver::v(store->auth.GetUser("user-anna"));
  EXPECT_TRUE(user.shares.empty());
  user.shares = {{"payroll"}};
  EXPECT_EQ(StoreDriver::v(store->auth.UpdateUser(user, kT0)).shares, user.shares);
  // An interrupted migration starts again from its beginning.
  for (const mysql::Migration& migration : mysql::EmbeddedMigrations()) {
    if (migration.name != "namespaces") continue;
    ASSERT_OK(session->Run("DELETE FROM schema_migrations WHERE version = 11"));
    ASSERT_OK(mysql::Migrate(*session, mysql::EmbeddedMigrations()));
  }
  EXPECT_EQ(StoreDriver::v(store->auth.GetUser("user-anna")).shares, user.shares);
}

// A member of a version without this column writes a definition without the namespace.
TEST_F(SchemaTest, AnOlderMembersEditLeavesAJobWhereItIs) {
  const auto store = database_.Open(8);
  const auto session = database_.Connect();
  JobDefinition definition{.name = "a", .type = JobType::kNoop, .name_space = "payroll"};
  StoreDriver::v(store->jobs.CreateJob(JobId("a"), definition, {.now = kT0}));
  ASSERT_OK(
      session->Run("UPDATE job_versions SET definition = REPLACE(definition, "
                   "'\"namespace\":\"payroll\",', '')"));
  EXPECT_EQ(StoreDriver::v(store->jobs.GetJob(JobId("a"))).definition, definition);
}

TEST_F(SchemaTest, JobsOfBeforeTheLimitsHaveTheDefaultsAndTheMigrationCanBeStartedOver) {
  const auto session = EmptyDatabase();
  std::vector<mysql::Migration> before = mysql::EmbeddedMigrations();
  std::erase_if(before, [](const mysql::Migration& migration) { return migration.version > 21; });
  ASSERT_OK(mysql::Migrate(*session, before));
  ASSERT_OK(session->Run(
      "INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, "
      "pause_reason, name, type, command, priority, timeout, retry_count, retry_interval, "
      "retry_backoff, retry_intervals, on_lost, overlap_policy, create_time, update_time) VALUES "
      "(7, 'old', 0, 1, 9, 1, '', 'old', 'noop', '', 0, 0, 0, 0, 'fixed', '', 'fail', 'skip', "
      "NOW(), NOW())"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(mysql::Migrate(*session, mysql::EmbeddedMigrations()));
    EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM jobs WHERE overlap_policy = 'skip'"), 1);
    EXPECT_EQ(Number(*session, "SELECT max_running FROM jobs"), 1);
    EXPECT_EQ(Number(*session, "SELECT queue_max FROM jobs"), 100);
    ASSERT_OK(session->Run("DELETE FROM schema_migrations WHERE version = 22"));
  }
  ASSERT_OK(session->Run("UPDATE jobs SET overlap_policy = 'terminate_previous'"));
}

TEST_F(SchemaTest, SchedulesOfBeforeTheWindowsHaveNoneAndTheMigrationCanBeStartedOver) {
  const auto session = EmptyDatabase();
  std::vector<mysql::Migration> before = mysql::EmbeddedMigrations();
  std::erase_if(before, [](const mysql::Migration& migration) { return migration.version > 22; });
  ASSERT_OK(mysql::Migrate(*session, before));
  ASSERT_OK(session->Run(
      "INSERT INTO job_schedules (schedule_id, job_no, segment, position, version, job_version, "
      "next_fire_us, kind, cron_expression, dst_gap, dst_repeat, misfire_policy, "
      "misfire_grace_us, catch_up_window_us, catch_up_max, priority) VALUES (9, 7, 0, 0, 1, 1, 5, "
      "'cron', '0 0 * * *', 'fire', 'auto', 'latest', 0, 0, 0, 0)"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(mysql::Migrate(*session, mysql::EmbeddedMigrations()));
    EXPECT_EQ(Number(*session, "SELECT until_us FROM job_schedules"), ToUnixMicros(kNever));
    EXPECT_EQ(Number(*session, "SELECT jitter_us FROM job_schedules"), 0);
    EXPECT_EQ(Number(*session, "SELECT spread FROM job_schedules"), 0);
    ASSERT_OK(session->Run("DELETE FROM schema_migrations WHERE version = 23"));
  }
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
