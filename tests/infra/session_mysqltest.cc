// A session on MariaDB: what its results need while others are read.
#include <fmt/core.h>

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

}  // namespace
}  // namespace carillon::test
