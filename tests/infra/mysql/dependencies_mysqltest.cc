// Jobs that start after others, on MariaDB: the lock that keeps them free of cycles, and the
// rows read.
#include <fmt/core.h>
#include <array>
#include <thread>

#include "common/domain/run/dependents.h"
#include "tests/infra/mysql/store_reads.h"
#include "tests/support/failpoint_on.h"

namespace carillon::test {
namespace {

JobDefinition After(const std::string& upstream) {
  JobDefinition definition = StoreDriver::Manual();
  definition.schedules = {{.kind = ScheduleKind::kAfter, .upstream = upstream}};
  return definition;
}

class DependencyLockTest : public StoreLimitsTest {
 protected:
  ~DependencyLockTest() override { failpoint::Reset(); }

  int64_t Waiting() { return StatusOf(*outside_, "Innodb_row_lock_current_waits"); }

  // b starts after c, and d after a. Then one writer lets a start after b, and another c after d;
  // neither locks a row of the other. Both have made their checks, as far as the rules let them,
  // before either may write. Returns how many of them have written.
  int EditBoth() {
    StoreDriver s = driver();
    const StoredJob a = s.Create("a", s.Manual());
    const StoredJob c = s.Create("c", s.Manual());
    s.Create("b", After("c"));
    s.Create("d", After("a"));
    // The flags are raised in transactions of their own, which must not wait.
    s.Create("after-b", After("b"));
    s.Create("after-d", After("d"));
    outside_ = database_.Connect();
    const auto holder = database_.Connect();
    EXPECT_OK(LetIdleInTransactions(*holder));
    EXPECT_OK(holder->Run("START TRANSACTION"));
    EXPECT_OK(holder->Ask("SELECT job_no FROM jobs WHERE job_id IN ('a', 'c') FOR UPDATE"));
    const std::array<StoredJob, 2> edited{a, c};
    const std::array<std::string, 2> upstream{"b", "d"};
    std::array<std::string, 2> refusals;
    std::vector<std::thread> writers;
    for (size_t i = 0; i < 2; ++i) {
      writers.emplace_back([&, i] {
        const auto handle = database_.Open(kSegments);
        const auto written = handle->jobs.ReplaceJob(edited[i].job_id, edited[i].version,
                                                     After(upstream[i]), {.now = kT0 + 1s});
        if (!written.ok()) refusals[i] = written.error().message;
      });
    }
    for (int tries = 0; tries < 50'000 && Waiting() < 2; ++tries) std::this_thread::yield();
    EXPECT_EQ(Waiting(), 2);
    EXPECT_OK(holder->Run("COMMIT"));
    for (std::thread& writer : writers) writer.join();
    int count = 0;
    for (const std::string& refusal : refusals) {
      if (refusal.empty()) {
        ++count;
        continue;
      }
      EXPECT_TRUE(refusal.starts_with("cycle")) << refusal;
    }
    return count;
  }

  std::unique_ptr<mysql::Session> outside_;
};

TEST_F(DependencyLockTest, TwoWritersOfDifferentJobsMakeNoCycle) { EXPECT_EQ(EditBoth(), 1); }

TEST_F(DependencyLockTest, WithoutTheLockTheyWouldMakeOne) {
  failpoint::Break("dependency.no_lock");
  EXPECT_EQ(EditBoth(), 2);
}

using DependencyReadsTest = StoreReadsTest;

TEST_F(DependencyReadsTest, TheDependentsOfAJobAreReadByThePrimaryKey) {
  StoreDriver s = driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", After("a"));
  // As many of one other job, so that an index of the kind alone would be no help.
  ASSERT_OK(outside_->Run(
      "INSERT INTO job_dependencies (kind, upstream_job_no, job_no, schedule_id, outcome, "
      "since_id) "
      "SELECT 'after', 900000 + seq MOD 10, 800000 + seq, 700000 + seq, 'success', 0 FROM " +
      Sequence(20'000) + " n"));
  constexpr int64_t kFew = 500;
  size_t dependents = 1;
  for (const bool analyzed : {false, true}) {
    SCOPED_TRACE(analyzed);
    if (analyzed) ASSERT_OK(outside_->Ask("ANALYZE TABLE job_dependencies, jobs"));
    const WallTime now = kT0 + (analyzed ? 20s : 10s);
    const RunRow running = s.Start(s.Execute(a, now), analyzed ? 12 : 11, fence_, now);
    s.Apply(s.ReportOf(running, RunState::kCompleted, now + 1s), fence_, now + 1s);
    const auto ends = s.v(s.completions.ScanCompletions(s.All(), 10));
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_LT(RowsRead([&] {
                EXPECT_EQ(s.v(s.completions.Apply(ends, fence_, now + 2s))[0].started.size(),
                          dependents);
              }),
              kFew);
    EXPECT_LT(RowsRead([&] {
                EXPECT_CODE(s.jobs.DeleteJob(a.job_id, a.version, {.now = now + 3s}),
                            ErrorCode::kExists);
              }),
              kFew);
    ++dependents;
    EXPECT_LT(RowsRead([&] { s.Create(analyzed ? "c" : "d", After("a")); }), kFew);
    EXPECT_LT(RowsRead([&] { s.v(s.jobs.ListDependencies(a.job_id)); }), kFew);
    EXPECT_LT(RowsRead([&] { s.v(s.jobs.ListDependencies(b.job_id)); }), kFew);
  }
}

TEST_F(DependencyReadsTest, AStartReadsNoHistoryOfTheJobThatIsStarted) {
  StoreDriver s = driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", After("a"));
  ASSERT_OK(outside_->Run(fmt::format(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, due_us, def_version) SELECT {} + seq * 1000000, {}, 0, {}, {}, NULL, 'AFTER', "
      "'COMPLETED', 0, 1 FROM {} n",
      ToUnixMicros(kT0 - 20'000s), b.schedules[0].schedule_id.value(), b.job_no.value(),
      b.segment.value(), Sequence(19'000))));
  ASSERT_OK(outside_->Ask("ANALYZE TABLE job_runs"));
  constexpr size_t kEnds = 3;
  for (size_t i = 0; i < kEnds; ++i) {
    const WallTime now = kT0 + 10s + 1s * static_cast<int>(i);
    const RunRow running = s.Start(s.Execute(a, now), 11 + i, fence_, now);
    s.Apply(s.ReportOf(running, RunState::kCompleted, now + 100ms), fence_, now + 100ms);
  }
  const auto ends = s.v(s.completions.ScanCompletions(s.All(), 10));
  ASSERT_EQ(ends.size(), kEnds);
  std::vector<CompletionEffect> effects;
  // Entries of an index that a condition sorts out are not counted as rows that are read.
  const auto sorted_out = [&](auto work) { return Grown("'HANDLER_ICP_ATTEMPTS'", work); };
  int64_t rows = 0;
  EXPECT_LT(sorted_out([&] {
              rows = RowsRead([&] { effects = s.v(s.completions.Apply(ends, fence_, kT0 + 20s)); });
            }),
            500);
  EXPECT_LT(rows, 500);
  for (const CompletionEffect& one : effects) EXPECT_EQ(one.started.size(), 1u);
}

}  // namespace
}  // namespace carillon::test
