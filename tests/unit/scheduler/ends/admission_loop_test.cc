#include "scheduler/ends/admission_loop.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class AdmissionLoopTest : public test::RoomTest {
 protected:
  AdmissionLoopTest() {
    signals_.cancels_requested.Connect([this] { ++pushes_; });
  }
  StoredJob CreateQueueing(const std::string& id, OverlapPolicy policy = OverlapPolicy::kQueueAll) {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.overlap_policy = policy;
    return CreateJob(id, job);
  }
  void PutGroup(const std::string& name, Duration per) {
    ASSERT_TRUE(stores_.groups.PutGroup(name, {.limit = 1, .per = per}, clock_.Wall()).ok());
  }
  // A job of the group, with the group's name.
  StoredJob CreateGrouped(const std::string& group) {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.concurrency_group = group;
    return CreateJob(group, job);
  }
  ClaimVerdict Ask(const StoredJob& job, const RunRow& row, uint64_t token) {
    ClaimRequest request = ClaimOf(row, token);
    request.overlap = OverlapRulesOf(job.definition);
    request.group = job.definition.concurrency_group;
    const auto replies =
        stores_.firing.Claim({request}, table_.View()->FenceFor({row.segment}), clock_.Wall());
    EXPECT_TRUE(replies.ok());
    return replies->at(0).verdict;
  }
  void Complete(const RunRow& row, uint64_t token) {
    ResultReport report{.key = row.key,
                        .segment = row.segment,
                        .job_no = row.job_no,
                        .attempt = row.attempt,
                        .token = {1, token},
                        .executor = ExecutorId("x1")};
    report.result = {.state = RunState::kCompleted, .ended = clock_.Wall()};
    const auto effects = stores_.firing.ApplyResults(
        {report}, table_.View()->FenceFor({row.segment}), clock_.Wall());
    ASSERT_TRUE(effects.ok());
    EXPECT_TRUE(effects->at(0).freed_slot);
  }
  std::vector<PendingRun> Fed() {
    std::vector<PendingRun> all;
    for (auto& batch : feed_.PopUpTo(100)) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
  SteadyTime Step() {
    SampleClock();
    return loop_.Step(clock_.Steady());
  }

  int pushes_ = 0;
  AdmissionLoop loop_{{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                       .queues = stores_.queues,
                       .firing = stores_.firing,
                       .feed = feed_}};
};

TEST_F(AdmissionLoopTest, AFreedSlotIsHandedOnAtOnceWhenAskedTo) {
  const StoredJob job = CreateQueueing("job");
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  EXPECT_EQ(Ask(job, first, 1), ClaimVerdict::kAccepted);
  EXPECT_EQ(Ask(job, second, 2), ClaimVerdict::kEnqueued);
  EXPECT_EQ(Step(), clock_.Steady() + 1s);
  EXPECT_TRUE(Fed().empty());
  clock_.Advance(20ms);
  Complete(first, 1);
  loop_.Nudge();
  Step();
  const auto fed = Fed();
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].key, second.key);
  EXPECT_EQ(fed[0].due, clock_.Wall());
  EXPECT_EQ(Ask(job, second, 2), ClaimVerdict::kAccepted);
}

TEST_F(AdmissionLoopTest, WithoutANudgeQueuesAreLookedAtEverySecond) {
  const StoredJob job = CreateQueueing("job");
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  Ask(job, first, 1);
  Ask(job, second, 2);
  Step();
  Complete(first, 1);
  clock_.Advance(500ms);
  Step();
  EXPECT_TRUE(Fed().empty());
  clock_.Advance(500ms);
  Step();
  EXPECT_EQ(Fed().size(), 1u);
}

TEST_F(AdmissionLoopTest, NobodyIsAdmittedOrEndedWhileTheClusterIsPaused) {
  const StoredJob job = CreateQueueing("job", OverlapPolicy::kCancelPrevious);
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  Ask(job, first, 1);
  Ask(job, second, 2);
  Pause();
  Step();
  EXPECT_EQ(pushes_, 0);
  EXPECT_FALSE(Row(first.key).cancel_requested);
  Pause(false);
  clock_.Advance(1s);
  Step();
  EXPECT_EQ(pushes_, 1);
  EXPECT_EQ(Row(first.key).cancel_requested, CancelMode::kGraceful);
}

TEST_F(AdmissionLoopTest, ManyJobsAreServedInTurns) {
  std::vector<RunRow> waiting;
  for (int i = 0; i < 250; ++i) {
    const StoredJob job = CreateQueueing("job-" + std::to_string(i));
    const RunRow first = Execute(job);
    waiting.push_back(Execute(job));
    ASSERT_EQ(Ask(job, first, 1), ClaimVerdict::kAccepted);
    ASSERT_EQ(Ask(job, waiting.back(), 2), ClaimVerdict::kEnqueued);
    Complete(first, 1);
  }
  size_t admitted = 0;
  for (int step = 0; step < 3; ++step) {
    EXPECT_LE(Step(), clock_.Steady() + (step < 2 ? Duration(20ms) : Duration(1s)));
    admitted += Fed().size();
    clock_.Advance(20ms);
  }
  EXPECT_EQ(admitted, waiting.size());
}

TEST_F(AdmissionLoopTest, RunsThatWaitTooLongAreSkipped) {
  JobDefinition definition;
  definition.type = JobType::kNoop;
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  definition.queue_timeout_s = 5;
  const StoredJob job = CreateJob("job", definition);
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  Ask(job, first, 1);
  Ask(job, second, 2);
  clock_.Advance(4s);
  Step();
  EXPECT_EQ(Row(second.key).state, RunState::kPending);
  clock_.Advance(2s);
  Step();
  EXPECT_EQ(Row(second.key).state, RunState::kSkipped);
  EXPECT_EQ(stores_.queues.ReadQueue(job.job_id, 10)->length, 0);
}

TEST_F(AdmissionLoopTest, ASlotOfAGroupIsHandedOn) {
  ASSERT_TRUE(stores_.groups.PutGroup("db", {.limit = 1}, clock_.Wall()).ok());
  JobDefinition definition;
  definition.type = JobType::kNoop;
  definition.concurrency_group = "db";
  const StoredJob job = CreateJob("job", definition);
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  const RunRow third = Execute(job);
  EXPECT_EQ(Ask(job, first, 1), ClaimVerdict::kAccepted);
  EXPECT_EQ(Ask(job, second, 2), ClaimVerdict::kEnqueued);
  EXPECT_EQ(Ask(job, third, 3), ClaimVerdict::kEnqueued);
  Step();
  EXPECT_TRUE(Fed().empty());
  Complete(first, 1);
  clock_.Advance(1s);
  Step();
  const auto fed = Fed();
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].key, second.key);
  // Nobody claims it: after a while the next one gets the slot.
  for (int i = 0; i < 45; ++i) {
    clock_.Advance(1s);
    Step();
  }
  const auto next = Fed();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].key, third.key);
  EXPECT_TRUE(IsTime(Row(second.key).due));
  EXPECT_EQ(Row(second.key).group, GroupNo{});
}

TEST_F(AdmissionLoopTest, ASlotOfAGroupIsReservedBeforeItIsGivenAgain) {
  PutGroup("db", 700ms);
  const StoredJob job = CreateGrouped("db");
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  EXPECT_EQ(Ask(job, first, 1), ClaimVerdict::kAccepted);
  const WallTime cool = clock_.Wall() + 700ms;
  Complete(first, 1);
  clock_.Advance(300ms);
  EXPECT_EQ(Ask(job, second, 2), ClaimVerdict::kEnqueued);
  loop_.Nudge();
  Step();
  const auto fed = Fed();
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].key, second.key);
  EXPECT_EQ(fed[0].due, cool - kGroupLead);
}

// Another member may free the slot, which tells this loop nothing.
TEST_F(AdmissionLoopTest, TheLoopLooksEvery100msForASlotThatIsAboutToBeGivenAgain) {
  PutGroup("db", 700ms);
  const StoredJob job = CreateGrouped("db");
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  EXPECT_EQ(Ask(job, first, 1), ClaimVerdict::kAccepted);
  const WallTime cool = clock_.Wall() + 700ms;
  EXPECT_EQ(Ask(job, second, 2), ClaimVerdict::kEnqueued);
  EXPECT_EQ(Step(), clock_.Steady() + 400ms);
  clock_.Advance(400ms);
  EXPECT_EQ(Step(), clock_.Steady() + 100ms);
  Complete(first, 1);
  clock_.Advance(99ms);
  Step();
  EXPECT_TRUE(Fed().empty());
  clock_.Advance(1ms);
  Step();
  const auto fed = Fed();
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].due, cool - kGroupLead);
}

// The cost of the looks of a member: ten a second, however many groups have a time, and one
// admission for a start. A scan is two statements (tests/infra/mysql/groups_mysqltest.cc).
TEST_F(AdmissionLoopTest, ManyGroupsWithATimeCostFewLooksAndStartAtTheirTimes) {
  constexpr int kGroups = 20;
  constexpr int kStarts = 5;
  AdmissionLoop loop({.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                      .queues = faults_.queues,
                      .firing = stores_.firing,
                      .feed = feed_});
  std::map<JobNo, StoredJob> jobs;
  std::map<JobNo, std::vector<WallTime>> starts;
  uint64_t token = 0;
  const auto start = [&](const StoredJob& job, const RunRow& row) {
    ASSERT_EQ(Ask(job, row, ++token), ClaimVerdict::kAccepted);
    Complete(row, token);
    starts[job.job_no].push_back(clock_.Wall());
  };
  for (int i = 0; i < kGroups; ++i) {
    const std::string name = "g" + std::to_string(i);
    PutGroup(name, 1s);
    const StoredJob job = CreateGrouped(name);
    jobs[job.job_no] = job;
    std::vector<RunRow> rows;
    for (int run = 0; run < kStarts; ++run) rows.push_back(Execute(job));
    start(job, rows[0]);
    for (int run = 1; run < kStarts; ++run) {
      EXPECT_EQ(Ask(job, rows[run], ++token), ClaimVerdict::kEnqueued);
    }
    clock_.Advance(37ms);
  }
  const SteadyTime begin = clock_.Steady();
  std::multimap<WallTime, RunKey> claims;
  SteadyTime next = begin;
  while (clock_.Steady() < begin + kStarts * 1s) {
    SampleClock();
    if (clock_.Steady() >= next) next = loop.Step(clock_.Steady());
    for (const PendingRun& run : Fed()) {
      EXPECT_GE(run.due, clock_.Wall());  // early enough
      claims.emplace(run.due + kGroupLead, run.key);
    }
    while (!claims.empty() && claims.begin()->first <= clock_.Wall()) {
      const RunRow row = Row(claims.begin()->second);
      start(jobs.at(row.job_no), row);
      claims.erase(claims.begin());
    }
    clock_.Advance(1ms);
  }
  for (const auto& [job_no, times] : starts) {
    ASSERT_EQ(times.size(), static_cast<size_t>(kStarts));
    EXPECT_EQ(times.back() - times.front(), (kStarts - 1) * 1s);
  }
  EXPECT_LE(faults_.plan.calls("ScanGroups"), kStarts * 10 + 1);
  EXPECT_LE(faults_.plan.calls("AdmitGroup"), kGroups * (kStarts - 1));
}

TEST_F(AdmissionLoopTest, AnotherOwnersQueuesAreLeftAlone) {
  const StoredJob job = CreateQueueing("job");
  const RunRow first = Execute(job);
  const RunRow second = Execute(job);
  Ask(job, first, 1);
  Ask(job, second, 2);
  Complete(first, 1);
  TakeAll("m2");
  Step();
  EXPECT_TRUE(Fed().empty());
  EXPECT_EQ(Row(second.key).due, kQueued);
}

}  // namespace
}  // namespace carillon::scheduler
