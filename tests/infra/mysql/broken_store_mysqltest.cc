// Errors of MariaDB when the whole store is broken: a table, or a row that every transaction needs,
// is missing. The store must not report this as an error of the batch's items.
#include "common/adapters/mysql/client/mysql_error.h"
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

TEST(MysqlErrorTest, ErrorsOfTheWholeStoreAreNotErrorsOfAnItem) {
  for (const int number : {1034, 1054, 1064, 1146, 1194, 1305, 1712, 1877, 1932}) {
    EXPECT_EQ(mysql::CodeOf(number, mysql::Phase::kStatement), ErrorCode::kBrokenStore) << number;
  }
  for (const int number : {1048, 1264, 1366, 1406, 4038}) {
    EXPECT_EQ(mysql::CodeOf(number, mysql::Phase::kStatement), ErrorCode::kInvalid) << number;
  }
  EXPECT_EQ(mysql::CodeOf(1146, mysql::Phase::kCommit), ErrorCode::kTimeout);
}

class BrokenStoreTest : public ::testing::Test {
 protected:
  MariadbDatabase database_;
  MysqlHandle handle_{database_.Open(kSegments)};
  std::unique_ptr<mysql::Session> outside_ = database_.Connect();
};

TEST_F(BrokenStoreTest, TableThatIsAwayLosesNothing) {
  StoreDriver s(handle_);
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0);
  const RunRow pending = s.Execute(job, kT0 + 1s);
  const auto report = s.ReportOf(running, RunState::kCompleted);
  ASSERT_OK(outside_->Run("RENAME TABLE job_runs TO put_aside"));
  EXPECT_CODE(s.firing.ApplyResults({report}, fence, kT0 + 1s), ErrorCode::kBrokenStore);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(pending, 2)}, fence, kT0 + 1s), ErrorCode::kBrokenStore);
  EXPECT_CODE(s.runs.GetRun(running.key), ErrorCode::kBrokenStore);
  ASSERT_OK(outside_->Run("RENAME TABLE put_aside TO job_runs"));
  const auto effects = s.firing.ApplyResults({report}, fence, kT0 + 2s);
  ASSERT_OK(effects);
  EXPECT_EQ(effects->at(0).verdict, ResultVerdict::kApplied);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Claim(s.ClaimOf(pending, 2), fence, kT0 + 2s).verdict, ClaimVerdict::kAccepted);
}

TEST_F(BrokenStoreTest, FenceWithoutItsRowBlamesNoItem) {
  StoreDriver s(handle_);
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow run = s.Execute(job, kT0);
  ASSERT_OK(outside_->Run("RENAME TABLE segments TO put_aside"));
  ASSERT_OK(outside_->Run("CREATE TABLE segments LIKE put_aside"));
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(run, 1)}, fence, kT0 + 1s), ErrorCode::kBrokenStore);
  ASSERT_OK(outside_->Run("DROP TABLE segments"));
  ASSERT_OK(outside_->Run("RENAME TABLE put_aside TO segments"));
  EXPECT_EQ(s.Claim(s.ClaimOf(run, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
}

}  // namespace
}  // namespace carillon::test
