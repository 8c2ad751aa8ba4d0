// A session on MariaDB: results, statements and transactions of a connection.
#include <fmt/core.h>

#include "common/adapters/mysql/client/transaction.h"
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

TEST(SessionTest, RowsAreReadToTheEndHoweverManyStatementsArePreparedMeanwhile) {
  constexpr int kRows = 5'000;
  MariadbDatabase database;
  const MysqlHandle handle{database.Open(kSegments)};
  const auto session = database.Connect();
  mysql::Rows rows = StoreDriver::v(session->Query(
      "SELECT seq, REPEAT(CHAR(65 + seq MOD 26), 100) FROM seq_1_to_5000 WHERE seq >= ?",
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
    const std::string query =
        "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
        "'QUESTIONS'";
    const int64_t before = Number(query);
    work();
    return Number(query) - before - 1;
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

// Two claims that want the same slot of a job collide in its key. Whoever loses often may try again.
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
