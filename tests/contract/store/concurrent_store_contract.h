// The contract of the store ports under concurrent writers: several handles, several threads.
//
// A store may answer kUnavailable or kConflict to a writer that lost a race for locks. Callers then
// retry, and so do these cases. Two competing writers must never both succeed.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ConcurrentStoreContract : public StoreContract<Factory> {
 protected:
  static constexpr int kWriters = 4;

  // Runs `write(driver, number)` for all writers at the same time, each on its own
  // thread and handle.
  void AllAtOnce(const std::function<void(StoreDriver&, int)>& write) {
    std::vector<std::unique_ptr<StoreHandle>> handles;
    for (int i = 0; i < kWriters; ++i) handles.push_back(this->OpenSecond());
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        StoreDriver driver(*handles[static_cast<size_t>(i)]);
        ++ready;
        while (ready.load() < kWriters) std::this_thread::yield();
        write(driver, i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};
TYPED_TEST_SUITE(ConcurrentStoreContract, StoreFactories);

inline constexpr int kTriesMax = 200;

// Repeats the call while it fails with kUnavailable, or with kConflict if conflicts are not final.
template <typename Call>
auto Persist(Call call, bool conflict_is_final = true) {
  auto result = call();
  for (int i = 0; i < kTriesMax && !result.ok(); ++i) {
    const bool again = result.code() == ErrorCode::kUnavailable ||
                       (result.code() == ErrorCode::kConflict && !conflict_is_final);
    if (!again) break;
    std::this_thread::yield();
    result = call();
  }
  return result;
}

TYPED_TEST(ConcurrentStoreContract, OnePlannerWinsEachSetOfFires) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (int i = 0; i < 8; ++i) s.Create("job" + std::to_string(i), s.Every(1s));
  for (int round = 1; round <= 10; ++round) {
    const PlanBatch batch = s.BatchOf(kT0 + round * 1s, kT0);
    ASSERT_EQ(batch.runs.size(), 8u);
    std::atomic<int> won{0};
    this->AllAtOnce([&](StoreDriver& mine, int) {
      const Status planned = Persist([&] { return mine.firing.Plan(batch, fence, kT0); });
      if (planned.ok()) {
        ++won;
      } else {
        EXPECT_EQ(planned.code(), ErrorCode::kConflict);
      }
    });
    EXPECT_EQ(won.load(), 1);
  }
  EXPECT_EQ(s.Pending(kT0 + 24h).size(), 80u);
}

TYPED_TEST(ConcurrentStoreContract, OneClaimWinsEachRun) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  std::vector<RunRow> rows;
  for (int i = 0; i < 50; ++i) rows.push_back(s.Execute(job, kT0));
  std::atomic<int> accepted{0};
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const ClaimRequest request =
          mine.ClaimOf(rows[i], static_cast<uint64_t>(writer) * 1000 + i + 1);
      const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 1s); });
      ASSERT_OK(replies);
      if (replies->at(0).verdict == ClaimVerdict::kAccepted) ++accepted;
    }
  });
  EXPECT_EQ(accepted.load(), 50);
}

TYPED_TEST(ConcurrentStoreContract, OverlapSkipRunsOneAtATime) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("a", definition);
  std::vector<RunRow> rows;
  for (int i = 0; i < TestFixture::kWriters; ++i) rows.push_back(s.Execute(job, kT0));
  std::atomic<int> accepted{0};
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    const ClaimRequest request = mine.ClaimOf(
        rows[static_cast<size_t>(writer)], static_cast<uint64_t>(writer) + 1, OverlapPolicy::kSkip);
    const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 1s); });
    ASSERT_OK(replies);
    if (replies->at(0).verdict == ClaimVerdict::kAccepted) ++accepted;
  });
  EXPECT_EQ(accepted.load(), 1);
}

// A job that queues runs above `max_running`.
inline JobDefinition Queueing(int64_t max_running) {
  JobDefinition definition = StoreDriver::Manual();
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  definition.max_running = max_running;
  definition.queue_max = 10'000;
  return definition;
}

TYPED_TEST(ConcurrentStoreContract, ClaimsAtOnceNeverExceedMaxRunning) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  constexpr int kMaxRunning = 3;
  for (int round = 0; round < 10; ++round) {
    const StoredJob job = s.Create("job" + std::to_string(round), Queueing(kMaxRunning));
    std::vector<RunRow> rows;
    for (int i = 0; i < 2 * TestFixture::kWriters; ++i) rows.push_back(s.Execute(job, kT0));
    std::atomic<int> accepted{0};
    std::atomic<int> queued{0};
    this->AllAtOnce([&](StoreDriver& mine, int writer) {
      for (const int i : {writer, writer + TestFixture::kWriters}) {
        ClaimRequest request =
            mine.ClaimOf(rows[static_cast<size_t>(i)], static_cast<uint64_t>(i) + 1);
        request.overlap = OverlapRulesOf(job.definition);
        const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 1s); });
        ASSERT_OK(replies);
        if (replies->at(0).verdict == ClaimVerdict::kAccepted) ++accepted;
        if (replies->at(0).verdict == ClaimVerdict::kEnqueued) ++queued;
      }
    });
    EXPECT_EQ(accepted.load(), kMaxRunning);
    EXPECT_EQ(accepted.load() + queued.load(), 2 * TestFixture::kWriters);
    const JobQueue queue = s.v(s.queues.ReadQueue(job.job_id, 100));
    EXPECT_EQ(queue.holders.size(), static_cast<size_t>(kMaxRunning));
    EXPECT_EQ(queue.length, queued.load());
  }
}

// Two writers claim new runs, one admits queued runs and one claims those; whoever starts a run
// also ends it.
TYPED_TEST(ConcurrentStoreContract, ClaimsAndAdmissionsAtOnceNeverExceedMaxRunning) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  constexpr int kMaxRunning = 2;
  constexpr int kRunsEach = 20;
  const StoredJob job = s.Create("a", Queueing(kMaxRunning));
  std::vector<RunRow> rows;
  for (int i = 0; i < 2 * kRunsEach; ++i) rows.push_back(s.Execute(job, kT0));
  std::atomic<int> active{0};
  std::atomic<int> exceeded{0};
  std::atomic<int> completed{0};
  std::atomic<uint64_t> token{0};
  const auto work = [&](StoreDriver& mine, const RunRow& row) {
    ClaimRequest request = mine.ClaimOf(row, ++token);
    request.overlap = OverlapRulesOf(job.definition);
    const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 1s); });
    ASSERT_OK(replies);
    if (replies->at(0).verdict != ClaimVerdict::kAccepted) return;
    if (++active > kMaxRunning) ++exceeded;
    if (mine.v(mine.queues.ReadQueue(job.job_id, 1)).holders.size() > kMaxRunning) ++exceeded;
    RunRow started = row;
    started.claim_token = request.token;
    started.executor = request.executor;
    --active;  // before the store can give the slot to another
    const auto effects = Persist([&] {
      return mine.firing.ApplyResults({mine.ReportOf(started, RunState::kCompleted)}, fence,
                                      kT0 + 2s);
    });
    ASSERT_OK(effects);
    EXPECT_TRUE(effects->at(0).freed_slot);
    ++completed;
  };
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    if (writer < 2) {
      for (int i = 0; i < kRunsEach; ++i) {
        work(mine, rows[static_cast<size_t>(writer * kRunsEach + i)]);
      }
      return;
    }
    for (int idle = 0; completed < 2 * kRunsEach && idle < 2'000; ++idle) {
      if (writer == 2) {
        const auto admitted = Persist([&] {
          return mine.queues.Admit({job.job_no, job.segment}, fence, kT0 + 1s);
        });
        ASSERT_OK(admitted);
        if (!admitted->admitted.empty()) idle = 0;
        continue;
      }
      for (const RunRow& holder : mine.v(mine.queues.ReadQueue(job.job_id, 1)).holders) {
        if (holder.state != RunState::kPending) continue;
        work(mine, holder);
        idle = 0;
      }
    }
  });
  EXPECT_EQ(exceeded.load(), 0);
  EXPECT_EQ(completed.load(), 2 * kRunsEach);
  const JobQueue queue = s.v(s.queues.ReadQueue(job.job_id, 10));
  EXPECT_EQ(queue.length, 0);
  EXPECT_TRUE(queue.holders.empty());
}

TYPED_TEST(ConcurrentStoreContract, NoClaimIsAcceptedAfterAPauseWasAcknowledged) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(1s));
  s.Plan(kT0 + 100s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 100u);
  std::atomic<bool> acknowledged{false};
  std::atomic<int> disobeyed{0};
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    if (writer == 0) {
      const auto paused =
          Persist([&] { return mine.jobs.PauseJob(job.job_id, "", {.now = kT0 + 100s}); }, false);
      ASSERT_OK(paused);
      acknowledged = true;
      return;
    }
    for (size_t i = static_cast<size_t>(writer); i < rows.size(); i += 3) {
      const bool before = acknowledged;
      const ClaimRequest request = mine.ClaimOf(rows[i], i + 1);
      const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 200s); });
      ASSERT_OK(replies);
      if (before && replies->at(0).verdict == ClaimVerdict::kAccepted) ++disobeyed;
    }
  });
  EXPECT_EQ(disobeyed.load(), 0);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
}

TYPED_TEST(ConcurrentStoreContract, NothingIsWrittenAfterATakeoverAnswered) {
  StoreDriver s = this->driver();
  const Fence old = s.Take(1, "m1", "i1");
  const StoredJob job = s.Create("a", s.Manual());
  std::vector<RunRow> rows;
  for (int i = 0; i < 60; ++i) rows.push_back(s.Execute(job, kT0));
  std::atomic<bool> taken{false};
  std::atomic<int> zombie_writes{0};
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    if (writer == 0) {
      const auto theirs = Persist([&] {
        return mine.segments.Take(
            {MemberId("m2"), Incarnation("i2"), Generation(2), StoreDriver::All()});
      });
      ASSERT_OK(theirs);
      EXPECT_EQ(theirs->fence.size(), kSegments);
      taken = true;
      return;
    }
    for (size_t i = static_cast<size_t>(writer); i < rows.size(); i += 3) {
      const bool before = taken;
      const auto replies = mine.firing.Claim({mine.ClaimOf(rows[i], i + 1)}, old, kT0 + 1s);
      if (before && replies.ok()) ++zombie_writes;
    }
  });
  EXPECT_EQ(zombie_writes.load(), 0);
}

TYPED_TEST(ConcurrentStoreContract, RunNowAtTheSameInstantNeverCollides) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  this->AllAtOnce([&](StoreDriver& mine, int) {
    for (int i = 0; i < 10; ++i) {
      const auto run = Persist(
          [&] { return mine.runs.ExecuteJob({.job_id = job.job_id}, {.now = kT0}); }, false);
      ASSERT_OK(run);
    }
  });
  EXPECT_EQ(s.Pending(kT0 + 1h).size(), static_cast<size_t>(10 * TestFixture::kWriters));
}

TYPED_TEST(ConcurrentStoreContract, ResultsOfOneRunAreAppliedOnce) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  std::vector<ResultReport> reports;
  for (uint64_t i = 0; i < 20; ++i) {
    reports.push_back(
        s.ReportOf(s.Start(s.Execute(job, kT0), i + 1, fence, kT0 + 1s), RunState::kFailed));
  }
  std::atomic<int> applied{0};
  this->AllAtOnce([&](StoreDriver& mine, int) {
    for (const ResultReport& report : reports) {
      const auto effects =
          Persist([&] { return mine.firing.ApplyResults({report}, fence, kT0 + 2s); });
      ASSERT_OK(effects);
      if (effects->at(0).verdict == ResultVerdict::kApplied) ++applied;
    }
  });
  EXPECT_EQ(applied.load(), 20);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({.limit = 100})).size(), 20u);
}

TYPED_TEST(ConcurrentStoreContract, EachEditOfAVersionWinsOnce) {
  StoreDriver s = this->driver();
  s.Create("a", s.Every(1s));
  std::atomic<int> won{0};
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    for (int i = 0; i < 10; ++i) {
      const StoredJob job = mine.v(mine.jobs.GetJob(JobId("a")));
      JobDefinition edited = job.definition;
      edited.description = std::to_string(writer) + "/" + std::to_string(i);
      const auto after = mine.jobs.ReplaceJob(job.job_id, job.version, edited, {.now = kT0});
      if (after.ok()) ++won;
    }
  });
  EXPECT_GT(won.load(), 0);
  EXPECT_EQ(s.v(s.jobs.GetJob(JobId("a"))).version, 1 + won.load());
}

TYPED_TEST(ConcurrentStoreContract, PlansAndEditsTogetherLoseNoFireAndRepeatNone) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(1s));
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    for (int i = 1; i <= 20; ++i) {
      if (writer == 0) {
        const StoredJob job = mine.v(mine.jobs.GetJob(JobId("a")));
        JobDefinition edited = job.definition;
        edited.description = std::to_string(i);
        const auto after = Persist(
            [&] { return mine.jobs.ReplaceJob(job.job_id, job.version, edited, {.now = kT0}); });
        ASSERT_OK(after);
        continue;
      }
      const Status planned = mine.firing.Plan(mine.BatchOf(kT0 + i * 1s, kT0), fence, kT0);
      EXPECT_TRUE(planned.ok() || planned.code() != ErrorCode::kFenced);
    }
  });
  ASSERT_OK(Persist([&] { return s.firing.Plan(s.BatchOf(kT0 + 20s, kT0), fence, kT0); }));
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 20u);
  const int64_t version = s.v(s.jobs.GetJob(JobId("a"))).version;
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].key.fire, kT0 + (i + 1) * 1s);
    EXPECT_EQ(rows[i].def_version, version);
  }
}

}  // namespace carillon::test
