// A private MariaDB server for a test process, and a new database in it for each test. With
// CARILLON_TEST_SERVER=mysql the server is the MySQL that `./dev mysql` has unpacked.
//
// Header only, because it needs the MySQL room, which not every build has.
//
// Always   The server is started at its first use, in a scratch directory, and ends when the
//          process ends.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "common/adapters/mysql/mariadbd/private_mariadbd.h"
#include "common/adapters/mysql/mysql_stores.h"
#include "common/adapters/system/system_clock.h"
#include "tests/support/source_file.h"

namespace carillon::test {

enum class ScratchPlace { kDisk, kMemory };

class ScratchDirectory {
 public:
  explicit ScratchDirectory(ScratchPlace place) {
    const bool memory = place == ScratchPlace::kMemory && access("/dev/shm", W_OK) == 0;
    const std::filesystem::path parent =
        memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "carillon-test-XXXXXX").string();
    CARILLON_CHECK(mkdtemp(pattern.data()) != nullptr, "mkdtemp");
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// True if the tests run on MySQL instead of MariaDB.
inline bool OnMysql() {
  const char* server = std::getenv("CARILLON_TEST_SERVER");
  return server != nullptr && std::string(server) == "mysql";
}

// `options` with the programs of the server on which the tests run.
inline mysql::PrivateMariadbdOptions OfTestServer(mysql::PrivateMariadbdOptions options) {
  if (!OnMysql()) return options;
  const std::string directory = SourceFile("build/mysql");
  options.mariadbd = directory + "/mysqld";
  options.mariadb_install_db = directory + "/install-db";
  return options;
}

// Lets a session of a test keep a transaction open. MySQL ends only idle sessions of pools.
inline Status LetIdleInTransactions(mysql::Session& session) {
  if (!session.is_mariadb()) return {};
  return session.Run("SET SESSION idle_transaction_timeout = 0");
}

// A variable of SHOW GLOBAL STATUS.
inline int64_t StatusOf(mysql::Session& session, const std::string& variable) {
  auto rows = session.Ask("SHOW GLOBAL STATUS LIKE '" + variable + "'");
  CARILLON_CHECK(rows.ok() && rows->Next(), variable);
  return std::stoll(rows->Text(2));
}

// A derived table with the column `seq`: the numbers from 1 to `count`, at most 100,000, in any
// order. The query must give it an alias.
inline std::string Sequence(int64_t count) {
  const std::string digits =
      "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 "
      "UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL "
      "SELECT 9) ";
  return "(SELECT 1 + d0.d + 10 * d1.d + 100 * d2.d + 1000 * d3.d + 10000 * d4.d AS seq FROM " +
         digits + "d0, " + digits + "d1, " + digits + "d2, " + digits + "d3, " + digits +
         "d4 HAVING seq <= " + std::to_string(count) + ")";
}

class MariadbServer {
 public:
  // A server that is not durable keeps its files in memory if possible, because a database is
  // created there in a tenth of the time.
  explicit MariadbServer(bool durable)
      : durable_(durable), scratch_(durable ? ScratchPlace::kDisk : ScratchPlace::kMemory) {
    auto started =
        mysql::PrivateMariadbd::Start(OfTestServer({.directory = scratch_.path() + "/mariadb",
                                                    .buffer_pool_bytes = 64 << 20,
                                                    .redo_log_bytes = 48 << 20,
                                                    .durable = durable}),
                                      clock_);
    CARILLON_CHECK(started.ok(), started.error().message);
    server_ = std::move(started).value();
  }

  mysql::PrivateMariadbd& server() { return *server_; }
  bool durable() const { return durable_; }
  const Clock& clock() const { return clock_; }

  mysql::SessionOptions Session(const std::string& database) const {
    return {.socket_path = server_->socket_path(),
            .user = server_->user(),
            .database = database,
            .connect_timeout_s = 5,
            .read_timeout_s = 20,
            .lock_wait_timeout_s = 5};
  }
  std::string NewDatabaseName() { return "t" + std::to_string(++databases_); }

  // The server that the tests of one process share. Tests that crash a server start their own.
  static MariadbServer& Shared() {
    static MariadbServer server(false);
    return server;
  }

 private:
  const bool durable_;
  SystemClock clock_;
  ScratchDirectory scratch_;
  std::unique_ptr<mysql::PrivateMariadbd> server_;
  int databases_ = 0;
};

// One empty store, on which any number of handles can be opened.
class MariadbDatabase {
 public:
  explicit MariadbDatabase(MariadbServer& server = MariadbServer::Shared())
      : server_(server), name_(server.NewDatabaseName()) {}
  ~MariadbDatabase() {
    auto session = mysql::Session::Connect(server_.Session(""));
    if (!session.ok()) return;  // the test has stopped the server
    const Status dropped = (*session)->Run("DROP DATABASE IF EXISTS " + name_);
    EXPECT_TRUE(dropped.ok()) << dropped.error().message;
  }
  MariadbDatabase(const MariadbDatabase&) = delete;
  MariadbDatabase& operator=(const MariadbDatabase&) = delete;

  mysql::MysqlOptions Options(uint32_t segment_count = 4) const {
    return {.session = server_.Session(name_),
            .pool_size = 4,
            .create_database = true,
            .segment_count = segment_count,
            .check_server = server_.durable()};
  }
  std::unique_ptr<mysql::MysqlStores> Open(uint32_t segment_count = 4) const {
    auto store = mysql::MysqlStores::Open(Options(segment_count));
    CARILLON_CHECK(store.ok(), store.error().message);
    return std::move(store).value();
  }
  // Opens a plain connection, for tests that examine the tables.
  std::unique_ptr<mysql::Session> Connect() const {
    auto session = mysql::Session::Connect(server_.Session(name_));
    CARILLON_CHECK(session.ok(), session.error().message);
    return std::move(session).value();
  }
  const std::string& name() const { return name_; }
  MariadbServer& server() { return server_; }

 private:
  MariadbServer& server_;
  const std::string name_;
};

}  // namespace carillon::test
