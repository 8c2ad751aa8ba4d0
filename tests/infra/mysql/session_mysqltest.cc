// A session on MariaDB: results, statements and transactions of a connection.
#include <fmt/core.h>
#include <poll.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

TEST(SessionTest, RowsAreReadToTheEndHoweverManyStatementsArePreparedMeanwhile) {
  constexpr int kRows = 5'000;
  MariadbDatabase database;
  const MysqlHandle handle{database.Open(kSegments)};
  const auto session = database.Connect();
  mysql::Rows rows =
      StoreDriver::v(session->Query("SELECT seq, REPEAT(CHAR(65 + seq MOD 26), 100) FROM " +
                                        Sequence(kRows) + " n WHERE seq >= ? ORDER BY seq",
                                    {int64_t{1}}));
  for (int row = 1; row <= kRows; ++row) {
    ASSERT_TRUE(rows.Next()) << row;
    ASSERT_EQ(rows.Int(1), row);
    ASSERT_EQ(rows.Text(2), std::string(100, static_cast<char>('A' + row % 26)));
    if (row % 10 != 0) continue;
    mysql::Rows other =
        StoreDriver::v(session->Query(fmt::format("SELECT {}, '{}'", row, std::string(500, 'x'))));
    ASSERT_TRUE(other.Next());
    ASSERT_EQ(other.Int(1), row);
  }
  EXPECT_FALSE(rows.Next());
}

class PooledSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(outside_->Run("CREATE TABLE t (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB"));
  }
  static Status Write(mysql::Pool& pool, int64_t n) {
    const auto insert = [&](mysql::Session& session) -> Status {
      CARILLON_TRY(session.Execute("INSERT INTO t VALUES (?)", {n}));
      return {};
    };
    return mysql::InTransaction(pool, {.operation = "test"}, insert);
  }
  static Result<int64_t> Count(mysql::Pool& pool) {
    return mysql::InRead(pool, "test", [&](mysql::Session& session) -> Result<int64_t> {
      CARILLON_ASSIGN_OR_RETURN(mysql::Rows rows, session.Query("SELECT COUNT(*) FROM t"));
      rows.Next();
      return rows.Int(1);
    });
  }
  int64_t Number(const std::string& query) {
    auto rows = outside_->Ask(query);
    CARILLON_CHECK(rows.ok() && rows->Next(), query);
    return rows->Int(1);
  }
  // Returns the number of statements that connections other than the test's own send during `work`.
  template <typename Work>
  int64_t Statements(Work work) {
    const auto questions = [&] {
      auto rows = outside_->Ask("SHOW GLOBAL STATUS LIKE 'Questions'");
      CARILLON_CHECK(rows.ok() && rows->Next(), "status");
      return std::stoll(rows->Text(2));
    };
    const int64_t before = questions();
    work();
    return questions() - before - 1;
  }
  int64_t OpenTransactions() {
    return Number(
        "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> "
        "CONNECTION_ID()");
  }

  MariadbDatabase database_;
  const MysqlHandle handle_{database_.Open(kSegments)};
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
};

TEST_F(PooledSessionTest, ATransactionCostsItsStatementsAndACommit) {
  mysql::Pool pool({.session = database_.server().Session(database_.name()), .size = 4});
  ASSERT_OK(Write(pool, 1));
  ASSERT_OK(Count(pool));
  EXPECT_EQ(Statements([&] { ASSERT_OK(Write(pool, 2)); }), 2);
  EXPECT_EQ(Statements([&] { ASSERT_OK(Count(pool)); }), 1);
  EXPECT_EQ(Statements([&] { ASSERT_OK(Write(pool, 3)); }), 2);
  EXPECT_EQ(StoreDriver::v(Count(pool)), 3);
}

TEST_F(PooledSessionTest, NothingStaysOpenAfterReadsWritesAndErrors) {
  for (const size_t size : {size_t{1}, size_t{4}}) {
    mysql::Pool pool({.session = database_.server().Session(database_.name()), .size = size});
    const auto base = static_cast<int64_t>(10 * size);
    for (int64_t n = base; n < base + 3; ++n) {
      ASSERT_OK(Write(pool, n));
      EXPECT_EQ(OpenTransactions(), 0);
      ASSERT_OK(Count(pool));
      EXPECT_EQ(OpenTransactions(), 0);
      EXPECT_FALSE(Write(pool, n).ok());  // it already exists
      EXPECT_EQ(OpenTransactions(), 0);
    }
    // If a read had left a transaction open on the table, this statement would fail.
    ASSERT_OK(outside_->Run("SET SESSION lock_wait_timeout = 1"));
    EXPECT_OK(outside_->Run("ALTER TABLE t COMMENT = 'changed'"));
  }
}

TEST_F(PooledSessionTest, ATransactionThatFailsAtAnyPlaceLeavesNothing) {
  mysql::Pool pool({.session = database_.server().Session(database_.name()), .size = 1});
  ASSERT_OK(Write(pool, 1));
  const Status stopped =
      mysql::InTransaction(pool, {.operation = "test"}, [&](mysql::Session& session) -> Status {
        CARILLON_TRY(session.Execute("INSERT INTO t VALUES (2)"));
        return {ErrorCode::kConflict, "stopped"};
      });
  EXPECT_CODE(stopped, ErrorCode::kConflict);
  EXPECT_EQ(StoreDriver::v(Count(pool)), 1);
  ASSERT_OK(Write(pool, 2));
  EXPECT_EQ(Number("SELECT COUNT(*) FROM t"), 2);
}

// MySQL answers the next statement with error 4031, MariaDB only closes the connection.
TEST_F(PooledSessionTest, AConnectionThatTheServerClosedBecauseItWasIdleIsReplaced) {
  mysql::Pool pool({.session = database_.server().Session(database_.name()), .size = 1});
  int64_t n = 0;
  for (const bool writes : {true, false, true}) {
    SCOPED_TRACE(++n);
    ASSERT_OK(Write(pool, 10 + n));
    uint64_t pooled = 0;
    ASSERT_OK(mysql::RunRead(pool, "test", [&](mysql::Session& session) -> Status {
      pooled = session.connection_id();
      return session.Run("SET SESSION wait_timeout = 1");
    }));
    if (writes) ASSERT_OK(Write(pool, 20 + n));
    const std::string others =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " + std::to_string(pooled);
    for (int looks = 0; Number(others) > 0; ++looks) {
      ASSERT_LT(looks, 3'000);
      poll(nullptr, 0, 10);
    }
    if (writes) {
      EXPECT_OK(Write(pool, 30 + n));
    } else {
      EXPECT_OK(Count(pool));
    }
  }
}

// A process that is stopped in a transaction must not keep its row locks.
TEST_F(PooledSessionTest, OnlySessionsOfAPoolMayNotIdle) {
  const auto options = database_.server().Session(database_.name());
  mysql::Pool pool({.session = options, .size = 1});
  const auto limit = [&](mysql::Session& session) -> Result<int64_t> {
    const char* variable = session.is_mariadb() ? "SELECT @@idle_transaction_timeout"
                                                : "SELECT @@session.wait_timeout";
    CARILLON_ASSIGN_OR_RETURN(mysql::Rows rows, session.Ask(variable));
    rows.Next();
    return rows.Int(1);
  };
  const auto pooled = mysql::InRead(pool, "test", limit);
  if (outside_->is_mariadb()) {
    EXPECT_EQ(StoreDriver::v(pooled), mysql::kIdleTransactionTimeoutSeconds);
  } else {
    EXPECT_EQ(StoreDriver::v(pooled), mysql::kIdleSessionTimeoutSeconds);
    EXPECT_GT(StoreDriver::v(limit(*outside_)), 3600);
  }
}

// The connector sends texts of more than 256 KiB in another way than short ones.
TEST_F(PooledSessionTest, AJsonParameterMayHaveAnyLength) {
  ASSERT_OK(
      outside_->Run("CREATE TABLE texts (n INT NOT NULL PRIMARY KEY, t MEDIUMTEXT NOT NULL)"));
  int64_t n = 0;
  for (const size_t size : {10, 256 * 1024 - 20, 256 * 1024 + 1, 3 << 20}) {
    SCOPED_TRACE(size);
    mysql::JsonRows rows;
    const std::string text = "\xc3\xa9" + std::string(size, 'x');
    rows.Begin().Add(++n).Add(text);
    EXPECT_OK(outside_->Execute("INSERT INTO texts SELECT k.n, k.t FROM JSON_TABLE(" CARILLON_JSON
                                ", '$[*]' COLUMNS (n INT PATH '$[0]', t MEDIUMTEXT PATH '$[1]')) k",
                                {rows.Take()}));
    mysql::Rows read = StoreDriver::v(outside_->Query("SELECT t FROM texts WHERE n = ?", {n}));
    ASSERT_TRUE(read.Next());
    EXPECT_EQ(read.Text(1), text);
  }
}

// A batch with one bad item is divided until the item is alone (kInvalid), and the others are
// written.
TEST(RefusedItemTest, AnItemThatNoServerCanStoreIsRefusedAsOne) {
  MariadbDatabase database;
  const MysqlHandle handle{database.Open(kSegments)};
  ASSERT_OK(database.Connect()->Run(
      "CREATE TABLE items (n INT UNSIGNED NOT NULL, t VARCHAR(4) NOT NULL, a VARCHAR(9) CHARACTER "
      "SET ascii NOT NULL) ENGINE=InnoDB"));
  const std::string with =
      ", '$[*]' COLUMNS (n BIGINT PATH '$[0]', t VARCHAR(90) PATH '$[1]', "
      "a VARCHAR(90) PATH '$[2]', b TEXT PATH '$[3]')) k";
  const std::string insert =
      "INSERT INTO items SELECT k.n, CONVERT(FROM_BASE64(k.b) USING utf8mb4), k.a "
      "FROM JSON_TABLE(" CARILLON_JSON +
      with;
  const std::string plain =
      "INSERT INTO items SELECT k.n, k.t, k.a FROM JSON_TABLE(" CARILLON_JSON + with;
  const std::string large(300'000, 'x');
  for (const auto& [statement, json] : std::vector<std::pair<std::string, std::string>>{
           {plain, R"([[-1,"t","a",""]])"},
           {plain, R"([[99999999999999999999999,"t","a",""]])"},
           {plain, R"([[1,"long text","a",""]])"},
           {plain, R"([[1,{},"a",""]])"},
           {plain, R"([[1,null,"a",""]])"},
           {plain, "[[1,\"t\",\"\xc3\xa9\",\"\"]]"},
           {plain, "[[1,\"\xff\",\"a\",\"\"]]"},
           {plain, "[[1,\"\xff\",\"a\",\"" + large + "\"]]"},
           {plain, R"([[1,"t","a")"},
           {plain, ""},
           {insert, R"([[1,"","a","/////w=="]])"}}) {
    // Of texts that are not UTF-8 MySQL takes the short ones, and MariaDB those that are sent as
    // bytes, with question marks in the place of the bad bytes.
    if (json.find('\xff') != std::string::npos && OnMysql() == (json.size() < large.size()))
      continue;
    SCOPED_TRACE(json.substr(0, 60));
    const auto session = database.Connect();
    const auto written = session->Execute(statement, {json});
    EXPECT_FALSE(written.ok());
    EXPECT_EQ(written.code(), ErrorCode::kInvalid);
  }
  const auto session = database.Connect();
  EXPECT_OK(session->Execute(plain, {std::string_view(R"([[1,"t","a",""]])")}));
}

// Two claims that want the same slot of a job collide in its key. Whoever loses often may try
// again.
TEST_F(PooledSessionTest, CollisionsThatDoNotStopAreAnErrorThatPasses) {
  mysql::Pool pool({.session = database_.server().Session(database_.name()), .size = 1});
  ASSERT_OK(Write(pool, 1));
  EXPECT_CODE(Write(pool, 1), ErrorCode::kExists);
  int tries = 0;
  const Status collided =
      mysql::InTransaction(pool, {.operation = "test", .retry_duplicates = true},
                           [&](mysql::Session& session) -> Status {
                             ++tries;
                             CARILLON_TRY(session.Execute("INSERT INTO t VALUES (1)"));
                             return {};
                           });
  EXPECT_CODE(collided, ErrorCode::kUnavailable);
  EXPECT_EQ(tries, 1 + mysql::kDeadlockRetriesMax);
  EXPECT_EQ(StoreDriver::v(Count(pool)), 1);
}

}  // namespace
}  // namespace carillon::test
