// Bounds of the rows that the server reads for a job whose queue is long.
#include <set>

#include <fmt/core.h>

#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

class QueueReadsTest : public StoreReadsTest {
 protected:
  static constexpr int64_t kQueuedRuns = 2'000;
  static constexpr int64_t kReadsMax = kQueuedRuns + 500;  // each queued run once

  // Queues 2,000 runs of a new job, and one run of each of four others, without slots taken. The
  // statistics of the table stay those of an empty one.
  void SetUp() override {
    StoreReadsTest::SetUp();
    StoreDriver s = driver();
    definition_ = s.Manual();
    definition_.overlap_policy = OverlapPolicy::kQueueAll;
    definition_.queue_max = 10'000;
    job_ = s.Create("long", definition_);
    ASSERT_OK(outside_->Run("ALTER TABLE run_waits STATS_AUTO_RECALC = 0"));
    Queue(job_, kQueuedRuns);
    for (int i = 0; i < 4; ++i) Queue(s.Create("short" + std::to_string(i), definition_), 1);
  }

  void Queue(const StoredJob& job, int64_t count) {
    const int64_t from = ToUnixMicros(kT0 - 1h);
    const uint64_t schedule = 5'000'000 + job.job_no.value();
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
        "state, due_us, def_version) SELECT {0} + seq, {1}, 0, {2}, {3}, {3}, 'MANUAL', 'PENDING', "
        "{4}, {5} FROM {6} n",
        from, schedule, job.job_no.value(), job.segment.value(), ToUnixMicros(kQueued), job.version,
        Sequence(count))));
    ASSERT_OK(outside_->Run(fmt::format(
        "INSERT INTO run_waits (fire_us, schedule_id, shard, job_no, segment, queued_us, "
        "expires_us) SELECT {0} + seq, {1}, 0, {2}, {3}, {0} + seq, {4} FROM {5} n",
        from, schedule, job.job_no.value(), job.segment.value(), ToUnixMicros(kNever),
        Sequence(count))));
  }

  std::vector<ClaimRequest> NewClaims(size_t count) {
    StoreDriver s = driver();
    std::vector<ClaimRequest> requests;
    for (size_t i = 0; i < count; ++i) {
      requests.push_back(s.ClaimOf(s.Execute(job_, kT0), ++token_));
      requests.back().overlap = OverlapRulesOf(job_.definition);
    }
    return requests;
  }

  JobDefinition definition_;
  StoredJob job_;
  uint64_t token_ = 0;
};

TEST_F(QueueReadsTest, ScansReadEachQueuedRunAtMostOnceWhateverTheStatistics) {
  StoreDriver s = driver();
  std::vector<QueuedJob> found;
  const auto scan = [&] { found = s.v(s.queues.ScanQueues(s.All(), JobNo(0), 100)); };
  const auto expired = [&] { s.v(s.queues.ScanExpired(s.All(), kT0 + 24h, 100)); };
  const auto running = [&] { s.v(s.firing.ScanRunning(s.All(), std::nullopt, 100)); };
  for (const bool analyzed : {false, true}) {
    if (analyzed) ASSERT_OK(outside_->Ask("ANALYZE TABLE run_waits, job_runs, jobs"));
    scan();
    expired();
    running();
    EXPECT_LT(RowsRead(scan), kReadsMax) << analyzed;
    EXPECT_EQ(found.size(), 5u);
    EXPECT_LT(RowsRead(expired), kReadsMax) << analyzed;
  }
}

// Each taken slot has a run that is to be looked at, so a store with many slots is looked at
// in parts.
TEST_F(QueueReadsTest, ScansOfUnusedSlotsGoThroughManySlotsInParts) {
  StoreDriver s = driver();
  ASSERT_OK(outside_->Run(
      "INSERT INTO group_slots (group_no, slot_no, fire_us, schedule_id) SELECT 1 + seq MOD 3, "
      "1 + seq DIV 3, 1000, seq FROM " +
      Sequence(45'000) + " n"));
  std::set<uint64_t> seen;
  const auto scan = [&] {
    for (const UnusedSlot& slot : s.v(s.queues.ScanUnusedSlots(s.All(), kT0, 100'000))) {
      seen.insert(slot.key.schedule_id.value());
    }
  };
  for (const size_t after : {20'000, 40'000, 45'000}) {
    EXPECT_LT(RowsRead(scan), 5 * 20'000);
    EXPECT_EQ(seen.size(), after);
  }
  seen.clear();
  scan();
  EXPECT_EQ(seen.size(), 20'000u) << "from the beginning";
  EXPECT_EQ(s.v(s.queues.ScanUnusedSlots(s.All(), kT0, 7)).size(), 7u);
}

TEST_F(QueueReadsTest, AdmissionReadsAsManyRunsAsItCanAdmit) {
  StoreDriver s = driver();
  const QueuedJob queued{job_.job_no, job_.segment};
  EXPECT_EQ(s.v(s.queues.Admit(queued, fence_, kT0)).admitted.size(), 1u);
  const auto none = [&] { s.v(s.queues.Admit(queued, fence_, kT0)); };
  none();
  EXPECT_LT(RowsRead(none), kReadsMax);
  definition_.max_running = 5;
  job_ = s.Replace(job_, definition_, kT0);
  size_t admitted = 0;
  const auto some = [&] { admitted = s.v(s.queues.Admit(queued, fence_, kT0)).admitted.size(); };
  EXPECT_LT(RowsRead(some), kReadsMax);
  EXPECT_EQ(admitted, 4u);
}

TEST_F(QueueReadsTest, ClaimsCountALongQueueOncePerBatch) {
  StoreDriver s = driver();
  const auto verdicts = [&](const std::vector<ClaimRequest>& requests, ClaimVerdict expected) {
    for (const ClaimReply& reply : s.v(s.firing.Claim(requests, fence_, kT0 + 1s))) {
      EXPECT_EQ(reply.verdict, expected);
    }
  };
  verdicts(NewClaims(1), ClaimVerdict::kEnqueued);  // prepares the statements
  const std::vector<ClaimRequest> counted = NewClaims(10);
  EXPECT_LT(RowsRead([&] { verdicts(counted, ClaimVerdict::kEnqueued); }), kReadsMax + kQueuedRuns);
  definition_.overlap_policy = OverlapPolicy::kQueueOne;
  job_ = s.Replace(job_, definition_, kT0 + 2s);
  const std::vector<ClaimRequest> not_counted = NewClaims(10);
  EXPECT_LT(RowsRead([&] { verdicts(not_counted, ClaimVerdict::kSkipped); }), kReadsMax);
}

// A member of a version without queues ends queued runs and leaves their rows.
TEST_F(QueueReadsTest, AdmissionDeletesPlacesOfRunsThatAreNoLongerQueued) {
  StoreDriver s = driver();
  const JobQueue before = s.v(s.queues.ReadQueue(job_.job_id, 2));
  const RunKey gone = before.queued.at(0).key;
  ASSERT_OK(outside_->Execute(
      "UPDATE job_runs SET state = 'CANCELLED', open_segment = NULL WHERE fire_us = ? AND "
      "schedule_id = ?",
      {ToUnixMicros(gone.fire), gone.schedule_id.value()}));
  EXPECT_FALSE(s.v(s.queues.PlaceOf(gone)).has_value());
  const AdmissionEffect effect = s.v(s.queues.Admit({job_.job_no, job_.segment}, fence_, kT0));
  ASSERT_EQ(effect.admitted.size(), 1u);
  EXPECT_EQ(effect.admitted[0].key, before.queued[1].key);
  EXPECT_EQ(s.v(s.queues.ReadQueue(job_.job_id, 1)).length, before.length - 2);
}

}  // namespace
}  // namespace carillon::test
