// Backfills on MariaDB: a cancel at the same time as a step, and the rows that a step reads.
#include <atomic>
#include <thread>

#include <fmt/core.h>

#include "tests/contract/mysql/mysql_handle.h"
#include "tests/contract/store/backfill_driver.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {
namespace {

class BackfillMysqlTest : public ::testing::Test {
 protected:
  ~BackfillMysqlTest() override { failpoint::Reset(); }

  std::vector<RunRow> RunsOf(BackfillDriver& s) {
    std::vector<RunRow> rows;
    const RunFilter filter{.job_id = s.job.job_id, .kinds = {RunKind::kBackfill}, .limit = 1000};
    for (const RunDetail& run : s.v(s.runs.ListRuns(filter, s.kNow)).runs) rows.push_back(run.row);
    return rows;
  }

  MariadbDatabase database_;
  MysqlHandle first_{database_.Open(kSegments)};
  MysqlHandle second_{database_.Open(kSegments)};
};

TEST_F(BackfillMysqlTest, CancelBetweenTheFenceAndTheBackfillsLockIsObeyed) {
  BackfillDriver s(first_);
  s.Make();
  s.Begin(s.Terms(0, 5));
  failpoint::Arm("mysql.after_fence", [&, done = false]() mutable {
    if (std::exchange(done, true)) return false;
    EXPECT_OK(second_.backfills().CancelBackfill(s.number, {.now = s.kNow}));
    return false;
  });
  EXPECT_TRUE(s.Step(s.kNow).due.empty());
  EXPECT_TRUE(RunsOf(s).empty());
  EXPECT_EQ(s.Read().state, BackfillState::kCancelled);
}

TEST_F(BackfillMysqlTest, NoRunIsCreatedAfterACancelThatRacesWithSteps) {
  BackfillDriver s(first_);
  s.Make();
  for (int round = 0; round < 5; ++round) {
    BackfillTerms terms = s.Terms(0, 5);
    terms.concurrency = 5;
    terms.rerun = BackfillRerun::kAll;
    s.Begin(terms);
    std::atomic<bool> stop = false;
    std::thread stepper([&] {
      while (!stop) {
        const auto effect =
            second_.backfills().StepBackfill(s.Open(), s.fence, s.kNow, s.retention);
        if (!effect.ok()) break;
      }
    });
    s.v(s.backfills.CancelBackfill(s.number, {.now = s.kNow}));
    const auto open_then = RunsOf(s);
    for (const RunRow& row : open_then) EXPECT_TRUE(IsFinal(row.state)) << Name(row.state);
    for (int i = 0; i < 20; ++i) s.Step(s.kNow);
    stop = true;
    stepper.join();
    EXPECT_EQ(RunsOf(s).size(), open_then.size());
    EXPECT_TRUE(HasEnded(s.Read()));
  }
}

TEST_F(BackfillMysqlTest, TwoMembersThatStepCreateEachRunOnce) {
  BackfillDriver s(first_);
  s.Make();
  BackfillTerms terms = s.Terms(0, 5);
  terms.concurrency = 3;
  s.Begin(terms);
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) {
      static_cast<void>(
          second_.backfills().StepBackfill(s.Open(), s.fence, s.kNow, s.retention).ok());
    }
  });
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(s.backfills.StepBackfill(s.Open(), s.fence, s.kNow, s.retention).ok());
  }
  other.join();
  EXPECT_EQ(RunsOf(s).size(), 3u);
  s.ExpectCounts({.created = 3});
}

}  // namespace
}  // namespace carillon::test
