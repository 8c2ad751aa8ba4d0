// The columns for executors must have room for every value that members accept.
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

class ExecutorLimitsTest : public ::testing::Test {
 protected:
  MariadbDatabase database_;
  MysqlHandle handle_{database_.Open(kSegments)};
};

TEST_F(ExecutorLimitsTest, OneWithTheLongestTextsThatMembersTakeIsKept) {
  StoreDriver s(handle_);
  const ExecutorRecord longest{.id = ExecutorId("e1"),
                               .incarnation = Incarnation("i1"),
                               .host = std::string(kExecutorHostBytesMax, 'h'),
                               .last_heartbeat = kT0,
                               .registered = kT0,
                               .version = std::string(kExecutorVersionBytesMax, '1')};
  const ExecutorRecord stored = StoreDriver::v(s.executors.RegisterExecutor(longest));
  EXPECT_EQ(stored.host, longest.host);
  EXPECT_EQ(stored.version, longest.version);
  ExecutorRecord longer = longest;
  longer.version += '1';
  EXPECT_EQ(s.executors.RegisterExecutor(longer).code(), ErrorCode::kInvalid);
  ExecutorRecord other = longest;
  other.id = ExecutorId("e2");
  EXPECT_EQ(s.executors.RegisterExecutors({other, longer}).code(), ErrorCode::kInvalid);
  EXPECT_EQ(s.executors.GetExecutor(other.id).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace carillon::test
