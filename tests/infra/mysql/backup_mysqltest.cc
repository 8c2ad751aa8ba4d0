// Backups while members work, and restores from these backups. The tests need mariadb-dump.
#include <poll.h>
#include <sys/stat.h>

#include <fstream>
#include <future>

#include "common/adapters/mysql/backup/backup.h"
#include "common/adapters/mysql/schema/migrations.h"
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

namespace fs = std::filesystem;

class BackupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    today_ = StoreDriver::v(handle_->segments().Now());
    today_ -= today_.time_since_epoch() % Duration(24h);
  }
  StoreDriver driver() { return StoreDriver(*handle_); }

  mysql::SessionOptions SessionTo(const MariadbDatabase& database) const {
    return database.Options().session;
  }
  Result<mysql::BackupFile> Create() {
    return mysql::CreateBackup({.session = SessionTo(database_), .file = file_, .search = search_},
                               clock_);
  }
  Result<mysql::BackupFile> Restore(const MariadbDatabase& into, bool replace = false) {
    return mysql::RestoreBackup(
        {.session = SessionTo(into), .file = file_, .search = search_, .replace = replace});
  }
  static int64_t Number(mysql::Session& session, const std::string& query) {
    auto rows = session.Ask(query);
    CARILLON_CHECK(rows.ok() && rows->Next(), query);
    return rows->Int(1);
  }
  static std::map<std::string, std::string> Checksums(mysql::Session& session) {
    auto names = StoreDriver::v(session.Ask(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND "
        "TABLE_TYPE = 'BASE TABLE'"));
    std::map<std::string, std::string> checksums;
    while (names.Next()) {
      auto rows = StoreDriver::v(session.Ask("CHECKSUM TABLE `" + names.Text(1) + "`"));
      rows.Next();
      checksums[names.Text(1)] = rows.Text(2);
    }
    return checksums;
  }
  // Creates jobs with several versions, finished runs on four old days, a waiting run, texts that a
  // dump must escape, and a workflow with a task in a group.
  void Fill() {
    StoreDriver s = driver();
    const Fence fence = s.Take();
    JobDefinition definition = s.Manual();
    definition.command = "printf 'a\\tb;\\n(\"' -- \xc3\xbc \n'second line'";
    const StoredJob job = s.Create("a", definition, today_);
    definition.priority = 3;
    const StoredJob edited = s.Replace(job, definition, today_ + 1s);
    for (int day = 0; day < 4; ++day) {
      for (int run = 0; run < 25; ++run) {
        const WallTime at = today_ + day * 24h + run * 1s;
        const RunRow row = s.Start(s.Execute(edited, at), ++tokens_, fence, at);
        s.Apply(s.ReportOf(row, RunState::kCompleted, at), fence, at);
      }
    }
    s.Execute(edited, today_ + 30 * 24h);
    s.v(s.groups.PutGroup("db", {.limit = 1}, today_));
    JobDefinition flow = s.Manual();
    flow.type = JobType::kWorkflow;
    flow.command.clear();
    flow.workflow = WorkflowDefinition{
        .nodes = {{.id = "a", .task = TaskBox({.command = "true", .concurrency_group = "db"})}}};
    s.Create("flow", flow, today_);
  }
  // Runs the maintenance as if 20 days had passed, which drops the four days.
  Result<Upkeep> Maintain() {
    return handle_->housekeeping().Maintain(today_ + 20 * 24h, {.runs = 14 * 24h});
  }
  int64_t Runs(const MariadbDatabase& database) {
    return Number(*database.Connect(), "SELECT COUNT(*) FROM job_runs");
  }
  // Locks a table, so that dumps wait there until the returned session ends. The default table is
  // dumped before the partitioned tables, and nothing else in the test uses it.
  std::unique_ptr<mysql::Session> StopDumps(const std::string& table = "id_blocks") {
    auto session = database_.Connect();
    EXPECT_OK(session->Run("LOCK TABLES " + table + " WRITE"));
    return session;
  }
  void AwaitStoppedDump() {
    const auto session = database_.Connect();
    const std::string waits =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND STATE LIKE "
        "'Waiting for table metadata lock%'";
    for (int looks = 0; Number(*session, waits) == 0; ++looks) {
      ASSERT_LT(looks, 3'000);
      poll(nullptr, 0, 10);
    }
  }
  // Puts a program of this name into the search path, before the real program.
  void Fake(const std::string& name, const std::string& script) {
    const std::string path = scratch_.path() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    chmod(path.c_str(), 0700);
    search_ = scratch_.path() + ":" + kSearch;
  }

  static inline const std::string kSearch = "/usr/local/bin:/usr/bin:/bin";
  SystemClock clock_;
  ScratchDirectory scratch_{ScratchPlace::kMemory};
  std::string file_ = scratch_.path() + "/store.sql";
  std::string search_ = kSearch;
  MariadbDatabase database_;
  std::unique_ptr<MysqlHandle> handle_ = std::make_unique<MysqlHandle>(database_.Open(kSegments));
  WallTime today_;
  uint64_t tokens_ = 0;
};

TEST_F(BackupTest, MaintenanceAndNewRunsBesideADumpCostItNoRow) {
  Fill();
  const auto outside = database_.Connect();
  const auto before = Checksums(*outside);
  const int64_t runs = Runs(database_);
  std::future<Result<mysql::BackupFile>> backup;  // ends after what stops it
  auto stop = StopDumps();
  backup = std::async(std::launch::async, [this] { return Create(); });
  AwaitStoppedDump();
  ASSERT_OK(Maintain());
  EXPECT_EQ(Runs(database_), runs);
  StoreDriver s = driver();
  s.Execute(s.v(s.jobs.GetJob(JobId("a"))), today_ + 31 * 24h);
  stop.reset();
  const auto made = backup.get();
  ASSERT_OK(made);
  EXPECT_EQ(made->rows.at("job_runs"), runs);
  EXPECT_EQ(made->rows.at("workflow_groups"), 1);
  EXPECT_EQ(Runs(database_), runs + 1);
  ASSERT_OK(Maintain());
  EXPECT_EQ(Runs(database_), 2);  // maintenance continues

  const MariadbDatabase copy;
  const auto restored = Restore(copy);
  ASSERT_OK(restored);
  EXPECT_EQ(restored->rows, made->rows);
  const auto session = copy.Connect();
  EXPECT_EQ(Checksums(*session), before);
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM job_logs"), runs);  // job_logs is a view
  EXPECT_EQ(Number(*session, "SELECT COUNT(*) FROM jobs WHERE deleted = 2"), 1);
  const auto store = copy.Open();
  EXPECT_EQ(store->jobs.GetJob(JobId("a"))->version, 2);
  EXPECT_EQ(StoreDriver::v(store->jobs.ListVersions(JobId("a"), INT64_MAX, 10)).size(), 2u);
  EXPECT_EQ(StoreDriver::v(store->identity.Identify()).store_id, made->head.store_id);
}

TEST_F(BackupTest, LostLockIsALostBackup) {
  Fill();
  std::future<Result<mysql::BackupFile>> backup;  // ends after what stops it
  auto stop = StopDumps();
  backup = std::async(std::launch::async, [this] { return Create(); });
  AwaitStoppedDump();
  const auto outside = database_.Connect();
  ASSERT_OK(outside->Kill(static_cast<uint64_t>(Number(
      *outside,
      "SELECT IS_USED_LOCK(CONCAT('carillon.maintain.', LEFT(SHA2(DATABASE(), 256), 32)))"))));
  const auto lost = backup.get();  // it ends although the dump still waits
  EXPECT_CODE(lost, ErrorCode::kUnavailable);
  EXPECT_NE(lost.error().message.find("the lock that keeps maintenance away was lost"),
            std::string::npos)
      << lost.error().message;
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_FALSE(fs::exists(file_ + ".part"));
}

TEST_F(BackupTest, MemberStartsWhileABackupIsTaken) {
  std::future<Result<mysql::BackupFile>> backup;  // ends after what stops it
  auto stop = StopDumps("executors");
  backup = std::async(std::launch::async, [this] { return Create(); });
  AwaitStoppedDump();
  mysql::MysqlOptions options = database_.Options();
  options.create_database = false;  // creating it would wait for the lock of this test
  EXPECT_OK(mysql::MysqlStores::Open(options));
  stop.reset();
  EXPECT_OK(backup.get());
}

TEST_F(BackupTest, SecondBackupToTheSameFileIsRefused) {
  const auto first = mysql::NewFile::Begin(file_);
  ASSERT_OK(first);
  EXPECT_CODE(Create(), ErrorCode::kConflict);
  EXPECT_TRUE(fs::exists(file_ + ".part"));
}

TEST_F(BackupTest, FileOfBeforeStaysUntilTheNewOneIsWhole) {
  ASSERT_OK(Create());
  const auto size = fs::file_size(file_);
  Fake("mariadb-dump", "echo 'INSERT INTO `jobs` VALUES (1);'\necho 'disk is gone' >&2\nexit 3\n");
  const auto failed = Create();
  EXPECT_CODE(failed, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find("ended with 3: disk is gone"), std::string::npos)
      << failed.error().message;
  Fake("mariadb-dump", "echo 'INSERT INTO `jobs` VALUES (1);'\n");
  EXPECT_CODE(Create(), ErrorCode::kCorrupt);
  EXPECT_EQ(fs::file_size(file_), size);
  EXPECT_FALSE(fs::exists(file_ + ".part"));
  search_ = kSearch;
  std::ofstream(file_ + ".part") << "left by one that was killed";
  ASSERT_OK(Create());
  EXPECT_OK(mysql::ReadBackupFile(file_));
}

TEST_F(BackupTest, FileIsOnlyItsOwners) {
  ASSERT_OK(Create());
  struct stat info {};
  ASSERT_EQ(stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(BackupTest, WhatIsNoStoreIsNotBackedUp) {
  MariadbDatabase other;
  const auto session = mysql::Session::Connect(other.server().Session(""));
  ASSERT_OK((*session)->Run("CREATE DATABASE " + other.name()));
  EXPECT_CODE(
      mysql::CreateBackup({.session = SessionTo(other), .file = file_, .search = search_}, clock_),
      ErrorCode::kNotFound);
  search_ = "/nowhere";
  EXPECT_CODE(Create(), ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(BackupTest, DatabaseThatIsNotEmptyIsRefusedOrReplacedAsAWhole) {
  ASSERT_OK(Create());
  MariadbDatabase other;
  other.Open();
  EXPECT_CODE(Restore(other), ErrorCode::kConflict);
  {
    const auto session = other.Connect();
    ASSERT_OK(session->Run("CREATE TABLE of_a_newer_version (n INT)"));
    EXPECT_CODE(Restore(other, /*replace=*/true), ErrorCode::kConflict);  // a session uses it
  }
  ASSERT_OK(Restore(other, /*replace=*/true));
  EXPECT_EQ(Number(*other.Connect(),
                   "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "
                   "AND TABLE_NAME = 'of_a_newer_version'"),
            0);
}

TEST_F(BackupTest, BackupThatIsNotWholeIsRefusedBeforeAnythingIsDropped) {
  ASSERT_OK(Create());
  MariadbDatabase other;
  const std::string id = StoreDriver::v(other.Open()->identity.Identify()).store_id;
  fs::resize_file(file_, fs::file_size(file_) - 1);
  EXPECT_CODE(Restore(other, /*replace=*/true), ErrorCode::kCorrupt);
  fs::resize_file(file_, fs::file_size(file_) / 2);
  EXPECT_CODE(Restore(other, /*replace=*/true), ErrorCode::kCorrupt);
  std::ofstream(file_) << "-- MariaDB dump 10.19\n";
  EXPECT_CODE(Restore(other, /*replace=*/true), ErrorCode::kInvalid);
  const int newer = mysql::EmbeddedMigrations().back().version + 1;
  std::ofstream(file_) << mysql::HeadLine({.schema = newer, .store_id = "x", .taken = kT0})
                       << mysql::TailLine({{"jobs", 1}});
  EXPECT_CODE(Restore(other, /*replace=*/true), ErrorCode::kConflict);
  EXPECT_EQ(StoreDriver::v(other.Open()->identity.Identify()).store_id, id);
}

TEST_F(BackupTest, NoProgramStartsOnAStoreThatWasRestoredInPart) {
  Fill();
  ASSERT_OK(Create());
  const MariadbDatabase other;
  // The client ends in the middle of the file, before the last table.
  Fake("mariadb", "head -n 400 | /usr/bin/mariadb \"$@\"\nexit 1\n");
  EXPECT_CODE(Restore(other), ErrorCode::kUnavailable);
  EXPECT_CODE(mysql::MysqlStores::Open(other.Options()), ErrorCode::kConflict);
  EXPECT_CODE(Restore(other), ErrorCode::kConflict);
  EXPECT_CODE(mysql::CreateBackup(
                  {.session = SessionTo(other), .file = file_ + "2", .search = kSearch}, clock_),
              ErrorCode::kConflict);
  search_ = kSearch;
  ASSERT_OK(Restore(other, /*replace=*/true));
  EXPECT_OK(mysql::MysqlStores::Open(other.Options()));
}

TEST_F(BackupTest, RowsThatDidNotArriveAreFound) {
  Fill();
  ASSERT_OK(Create());
  const MariadbDatabase other;
  Fake("mariadb",
       "/usr/bin/mariadb \"$@\" && echo 'DELETE FROM job_runs LIMIT 1' | "
       "/usr/bin/mariadb \"$@\"\n");
  EXPECT_CODE(Restore(other), ErrorCode::kCorrupt);
  EXPECT_CODE(mysql::MysqlStores::Open(other.Options()), ErrorCode::kConflict);
}

}  // namespace
}  // namespace carillon::test
