// Contract of concurrency groups under concurrent writers: claims, admissions, ends of attempts and
// changes of the limit at once.
#pragma once

#include "tests/contract/store/concurrent_store_contract.h"

namespace carillon::test {

inline JobDefinition GroupedJob() {
  JobDefinition definition = StoreDriver::Manual();
  definition.concurrency_group = "db";
  return definition;
}

inline ClaimRequest GroupedClaim(const RunRow& row, uint64_t token) {
  ClaimRequest request = StoreDriver::ClaimOf(row, token);
  request.group = "db";
  return request;
}

TYPED_TEST(ConcurrentStoreContract, ClaimsAtOnceNeverExceedTheLimitOfTheirGroup) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  constexpr int64_t kLimit = 3;
  s.v(s.groups.PutGroup("db", {.limit = kLimit}, kT0));
  std::vector<StoredJob> jobs;
  for (int i = 0; i < TestFixture::kWriters; ++i) {
    jobs.push_back(s.Create("job" + std::to_string(i), GroupedJob()));
  }
  uint64_t token = 0;
  for (int round = 0; round < 10; ++round) {
    std::vector<ClaimRequest> requests;
    for (int i = 0; i < 2 * TestFixture::kWriters; ++i) {
      const StoredJob& job = jobs[static_cast<size_t>(i % TestFixture::kWriters)];
      requests.push_back(GroupedClaim(s.Execute(job, kT0 + 1s * round), ++token));
    }
    std::atomic<int> accepted{0};
    std::atomic<int> queued{0};
    this->AllAtOnce([&](StoreDriver& mine, int writer) {
      for (const int i : {writer, writer + TestFixture::kWriters}) {
        const auto replies = Persist(
            [&] { return mine.firing.Claim({requests[static_cast<size_t>(i)]}, fence, kT0 + 1h); });
        ASSERT_OK(replies);
        if (replies->at(0).verdict == ClaimVerdict::kAccepted) ++accepted;
        if (replies->at(0).verdict == ClaimVerdict::kEnqueued) ++queued;
      }
    });
    // A claim may find a slot locked by another that does not take it in the end.
    EXPECT_LE(accepted.load(), kLimit);
    EXPECT_EQ(accepted.load() + queued.load(), 2 * TestFixture::kWriters);
    GroupDetail detail = s.v(s.groups.GetGroup("db", 100, kT0));
    EXPECT_EQ(detail.group.running, accepted.load());
    EXPECT_EQ(detail.group.queued, queued.load());
    // Whoever found none gets one from the admission.
    for (const QueuedGroup& group : s.v(s.queues.ScanGroups(s.All(), GroupNo{}, 10, kT0)).groups) {
      s.v(s.queues.AdmitGroup(group, fence, kT0 + 1h));
    }
    detail = s.v(s.groups.GetGroup("db", 100, kT0));
    EXPECT_EQ(detail.group.running, kLimit);
    for (const auto* runs : {&detail.holders, &detail.queue}) {
      for (const GroupRun& run : *runs) {
        s.v(s.runs.CancelRun(run.row.key, {.now = kT0 + 1h, .confirm_overlap = true}));
        const RunRow row = s.Get(run.row.key).row;
        if (row.state != RunState::kRunning) continue;
        s.Apply(s.ReportOf(row, RunState::kCancelled), fence, kT0 + 1h);
      }
    }
    EXPECT_EQ(s.v(s.groups.GetGroup("db", 100, kT0)).group.running, 0);
  }
}

// One writer changes the limit, the others claim. Each claim that begins after the answer obeys.
TYPED_TEST(ConcurrentStoreContract, NoClaimExceedsALimitThatWasAcknowledged) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  uint64_t token = 0;
  for (int round = 0; round < 10; ++round) {
    s.v(s.groups.PutGroup("db", {.limit = 100}, kT0));
    const StoredJob job = s.Create("job" + std::to_string(round), GroupedJob());
    std::vector<ClaimRequest> requests;
    for (int i = 0; i < 60; ++i) requests.push_back(GroupedClaim(s.Execute(job, kT0), ++token));
    std::atomic<bool> acknowledged{false};
    std::atomic<int> accepted{0};
    std::atomic<int> disobeyed{0};
    this->AllAtOnce([&](StoreDriver& mine, int writer) {
      if (writer == 0) {
        while (accepted < 5) std::this_thread::yield();
        ASSERT_OK(Persist([&] { return mine.groups.PutGroup("db", {.limit = 0}, kT0 + 1s); }));
        acknowledged = true;
        return;
      }
      for (size_t i = static_cast<size_t>(writer) - 1; i < requests.size(); i += 3) {
        const bool after = acknowledged;
        const auto replies =
            Persist([&] { return mine.firing.Claim({requests[i]}, fence, kT0 + 1s); });
        ASSERT_OK(replies);
        if (replies->at(0).verdict != ClaimVerdict::kAccepted) continue;
        ++accepted;
        if (after) ++disobeyed;
      }
    });
    EXPECT_EQ(disobeyed.load(), 0);
    const GroupDetail detail = s.v(s.groups.GetGroup("db", 100, kT0));
    EXPECT_EQ(detail.group.running, accepted.load());
    for (const auto* runs : {&detail.holders, &detail.queue}) {
      for (const GroupRun& run : *runs) {
        s.v(s.runs.CancelRun(run.row.key, {.now = kT0 + 1h}));
        const RunRow row = s.Get(run.row.key).row;
        if (row.state != RunState::kRunning) continue;
        s.Apply(s.ReportOf(row, RunState::kCancelled), fence, kT0 + 1h);
      }
    }
  }
}

// Two writers claim new runs, one admits queued runs and one claims those; whoever starts a run
// also ends it.
TYPED_TEST(ConcurrentStoreContract, ClaimsAndAdmissionsAtOnceNeverExceedTheLimitOfTheGroup) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  constexpr int kLimit = 2;
  constexpr int kRunsEach = 20;
  s.v(s.groups.PutGroup("db", {.limit = kLimit}, kT0));
  const StoredJob job = s.Create("a", GroupedJob());
  std::vector<RunRow> rows;
  for (int i = 0; i < 2 * kRunsEach; ++i) rows.push_back(s.Execute(job, kT0));
  std::atomic<int> active{0};
  std::atomic<int> exceeded{0};
  std::atomic<int> completed{0};
  std::atomic<uint64_t> token{0};
  const auto work = [&](StoreDriver& mine, const RunRow& row) {
    const ClaimRequest request = GroupedClaim(row, ++token);
    const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 1s); });
    ASSERT_OK(replies);
    if (replies->at(0).verdict != ClaimVerdict::kAccepted) return;
    if (++active > kLimit) ++exceeded;
    if (mine.v(mine.groups.GetGroup("db", 1, kT0)).group.running > kLimit) ++exceeded;
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
        for (const QueuedGroup& group :
             mine.v(mine.queues.ScanGroups(mine.All(), GroupNo{}, 1, kT0)).groups) {
          const auto admitted =
              Persist([&] { return mine.queues.AdmitGroup(group, fence, kT0 + 1s); });
          ASSERT_OK(admitted);
          if (!admitted->admitted.empty()) idle = 0;
        }
        continue;
      }
      for (const GroupRun& holder : mine.v(mine.groups.GetGroup("db", 10, kT0)).holders) {
        if (holder.row.state != RunState::kPending) continue;
        work(mine, holder.row);
        idle = 0;
      }
    }
  });
  EXPECT_EQ(exceeded.load(), 0);
  EXPECT_EQ(completed.load(), 2 * kRunsEach);
  const GroupDetail detail = s.v(s.groups.GetGroup("db", 10, kT0));
  EXPECT_EQ(detail.group.running, 0);
  EXPECT_EQ(detail.group.queued, 0);
}

// One writer changes the limit of the job and moves it out of its group and back, one admits, and
// two start and end what they find due.
TYPED_TEST(ConcurrentStoreContract, EditsAndAdmissionsAtOnceLoseNoRun) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  constexpr int kRuns = 24;
  constexpr int kLimit = 2;
  s.v(s.groups.PutGroup("db", {.limit = kLimit}, kT0));
  JobDefinition definition = Queueing(1);
  definition.concurrency_group = "db";
  const StoredJob job = s.Create("a", definition);
  std::vector<RunKey> keys;
  for (int i = 0; i < kRuns; ++i) keys.push_back(s.Execute(job, kT0).key);
  std::atomic<uint64_t> token{0};
  std::atomic<int> completed{0};
  std::atomic<int> exceeded{0};
  std::atomic<int> edits{0};
  const auto edit = [&](StoreDriver& mine, int i) {
    const StoredJob before = mine.v(mine.jobs.GetJob(job.job_id));
    JobDefinition after = before.definition;
    after.max_running = 1 + i % 3;
    after.concurrency_group = i % 2 == 0 ? "" : "db";
    ASSERT_OK(Persist([&] {
      return mine.jobs.ReplaceJob(before.job_id, before.version, after, {.now = kT0 + 1s});
    }));
    ++edits;
  };
  const auto admit = [&](StoreDriver& mine) {
    ASSERT_OK(Persist([&] {
      return mine.queues.Admit({job.job_no, job.segment}, fence, kT0 + 1s);
    }));
    for (const QueuedGroup& group :
         mine.v(mine.queues.ScanGroups(mine.All(), GroupNo{}, 1, kT0)).groups) {
      ASSERT_OK(Persist([&] { return mine.queues.AdmitGroup(group, fence, kT0 + 1s); }));
    }
  };
  const auto start_and_end = [&](StoreDriver& mine, const RunKey& key) {
    RunRow row = mine.Get(key).row;
    if (row.state != RunState::kPending || !IsTime(row.due)) return;
    const JobDefinition now = mine.v(mine.jobs.GetJob(job.job_id)).definition;
    ClaimRequest request = mine.ClaimOf(row, ++token);
    request.overlap = OverlapRulesOf(now);
    request.group = now.concurrency_group;
    const auto replies = Persist([&] { return mine.firing.Claim({request}, fence, kT0 + 1s); });
    ASSERT_OK(replies);
    if (replies->at(0).verdict != ClaimVerdict::kAccepted) return;
    if (mine.v(mine.groups.GetGroup("db", 1, kT0)).group.running > kLimit) ++exceeded;
    row.claim_token = request.token;
    row.executor = request.executor;
    ASSERT_OK(Persist([&] {
      return mine.firing.ApplyResults({mine.ReportOf(row, RunState::kCompleted)}, fence, kT0 + 2s);
    }));
    ++completed;
  };
  std::atomic<bool> edited{false};
  this->AllAtOnce([&](StoreDriver& mine, int writer) {
    if (writer == 0) {
      for (int i = 0; i < kRuns; ++i) edit(mine, i);
      edited = true;
      return;
    }
    for (int rounds = 0; completed < kRuns && rounds < 2'000;) {
      if (edited) ++rounds;
      if (writer == 1) admit(mine);
      if (writer == 1) continue;
      for (const RunKey& key : keys) {
        // About one start an edit, so that both go on together.
        if (edited || completed < edits) start_and_end(mine, key);
      }
    }
  });
  EXPECT_EQ(exceeded.load(), 0);
  EXPECT_EQ(completed.load(), kRuns);
  EXPECT_EQ(edits.load(), kRuns);
  for (const RunKey& key : keys) EXPECT_EQ(s.Get(key).row.state, RunState::kCompleted);
  const JobQueue queue = s.v(s.queues.ReadQueue(job.job_id, 10));
  EXPECT_EQ(queue.length, 0);
  EXPECT_TRUE(queue.holders.empty());
  const GroupDetail detail = s.v(s.groups.GetGroup("db", 10, kT0));
  EXPECT_EQ(detail.group.running, 0);
  EXPECT_EQ(detail.group.queued, 0);
}

}  // namespace carillon::test
