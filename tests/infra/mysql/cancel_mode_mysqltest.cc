// A rolling upgrade: members of an earlier version, which cannot request a kill,
// beside current members.
#include "tests/contract/mysql/mysql_handle.h"

namespace carillon::test {
namespace {

class EarlierMemberTest : public ::testing::Test {
 protected:
  static std::string Of(const RunRow& run) {
    return " r.fire_us = " + std::to_string(ToUnixMicros(run.key.fire)) +
           " AND r.schedule_id = " + std::to_string(run.key.schedule_id.value());
  }
  // Changes a run as an earlier member does.
  void Writes(const RunRow& run, const std::string& set) {
    ASSERT_OK(earlier_->Run("UPDATE job_runs r SET " + set + " WHERE" + Of(run)));
  }
  // Counts the cancel requests that an earlier member finds for the run.
  int64_t Finds(const RunRow& run) {
    auto rows = s.v(
        earlier_->Ask("SELECT COUNT(*) FROM run_cancels c JOIN job_runs r ON r.fire_us = c.fire_us "
                      "AND r.schedule_id = c.schedule_id AND r.shard = c.shard WHERE r.state IN "
                      "('RUNNING', 'HELD') AND r.cancel_requested = 1 AND" +
                      Of(run)));
    rows.Next();
    return rows.Int(1);
  }
  RunRow Killed() {
    const RunRow run = s.Start(s.Execute(s.Create("a", s.Manual()), kT0), 1, fence_, kT0 + 1s);
    EXPECT_TRUE(
        s.v(s.runs.CancelRun(run.key, {.now = kT0 + 2s, .cancel_mode = CancelMode::kKill})));
    return run;
  }
  std::optional<CancelMode> Asked(const RunRow& run) { return s.Get(run.key).row.cancel_requested; }

  MariadbDatabase database_;
  MysqlHandle handle_{StoreDriver::v(mysql::MysqlStores::Open(database_.Options(kSegments)))};
  StoreDriver s{handle_};
  std::unique_ptr<mysql::Session> earlier_ = database_.Connect();
  Fence fence_ = s.Take();
};

TEST_F(EarlierMemberTest, NeitherMissesAKillNorTakesItBack) {
  const RunRow run = Killed();
  EXPECT_EQ(Finds(run), 1);
  Writes(run, "r.cancel_requested = 1");  // an earlier member cancels it, with its grace period
  EXPECT_EQ(Asked(run), CancelMode::kKill);
}

TEST_F(EarlierMemberTest, LeavesNoKillForTheNextAttempt) {
  const RunRow run = Killed();
  Writes(run, "r.state = 'CANCELLED', r.open_segment = NULL, r.cancel_requested = 0");
  EXPECT_EQ(Asked(run), std::nullopt);
  Writes(run, "r.state = 'RUNNING', r.open_segment = r.segment, r.attempt = 2");
  EXPECT_EQ(Asked(run), std::nullopt);
  Writes(run, "r.cancel_requested = 1");
  EXPECT_EQ(Asked(run), CancelMode::kGraceful);
}

}  // namespace
}  // namespace carillon::test
