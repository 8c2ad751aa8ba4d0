#include "common/adapters/memory/memory_link.h"
#include "scheduler/recover/cancel_pusher.h"
#include "scheduler/recover/lease_reaper.h"
#include "scheduler/recover/takeover.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class RecoverTest : public test::RoomTest {
 protected:
  LeaseReaper MakeReaper() {
    return LeaseReaper({.clock = clock_,
                        .store = faults_.firing,
                        .cluster = cluster_,
                        .segments = table_,
                        .fences = fences_,
                        .leases = leases_,
                        .feed = feed_,
                        .events = events_,
                        .metrics = metrics_,
                        .signals = signals_},
                       1);
  }
  Takeover MakeTakeover() {
    return Takeover({.clock = clock_,
                     .store = faults_.firing,
                     .segments = table_,
                     .leases = leases_,
                     .applied = applied_,
                     .metrics = metrics_},
                    {});
  }
  HeldAttempt Start(int retry_count, const std::string& name = "job") {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.retry_count = retry_count;
    job.retry_interval_s = 0;
    const HeldAttempt held = Claim(Execute(CreateJob(name, job)), 1);
    leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{held, EpochOf(held.segment)}},
                     clock_.Steady());
    return held;
  }
  // Takes every segment again, without recovering it.
  void Retake() {
    std::vector<SegmentId> segments;
    for (uint32_t n = 0; n < test::kSegments; ++n) segments.push_back(SegmentId(n));
    const auto taken = stores_.segments.Take({.member = MemberId("m1"),
                                              .incarnation = Incarnation("m1"),
                                              .generation = Generation(++generation_),
                                              .segments = segments});
    table_.Add(taken->fence, Generation(generation_), clock_.Steady(), clock_.Steady(), 0);
  }
};

TEST_F(RecoverTest, ExpiredAttemptIsLostAndItsRetryFed) {
  const HeldAttempt held = Start(1);
  LeaseReaper reaper = MakeReaper();
  clock_.Advance(24s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
  clock_.Advance(1s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kPending);
  const auto fed = feed_.PopUpTo(10);
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].at(0).attempt, 2);
  EXPECT_EQ(leases_.size(), 0u);
  EXPECT_EQ(metrics_.counter("carillon_leases_lost_total").value(), 1u);
}

TEST_F(RecoverTest, LossThatWasNotWrittenStaysMarkedAndIsWrittenLater) {
  const HeldAttempt held = Start(0);
  LeaseReaper reaper = MakeReaper();
  clock_.Advance(25s);
  faults_.plan.Arm("MarkLost", ErrorCode::kUnavailable);
  reaper.Step(clock_.Steady());
  EXPECT_TRUE(leases_.IsLost(held.key, held.token));
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
  clock_.Advance(3s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kLost);
}

TEST_F(RecoverTest, LossTheStoreRefusesHoldsUpNoOther) {
  const HeldAttempt good = Start(0);
  const HeldAttempt bad = Start(0, "bad");
  const HeldAttempt other = Start(0, "other");
  faults_.plan.Refuse<LostReport>([&](const auto& report) { return report.key == bad.key; });
  LeaseReaper reaper = MakeReaper();
  clock_.Advance(25s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(good.key).state, RunState::kLost);
  EXPECT_EQ(Row(other.key).state, RunState::kLost);
  EXPECT_EQ(Row(bad.key).state, RunState::kRunning);
  EXPECT_TRUE(leases_.IsLost(bad.key, bad.token));
  faults_.plan.Refuse<LostReport>(nullptr);
  clock_.Advance(3s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(bad.key).state, RunState::kLost);
}

TEST_F(RecoverTest, ALostSegmentDelaysNoLossOfTheOthers) {
  const HeldAttempt first = Start(0);
  const HeldAttempt second = Start(0, "second");
  LeaseReaper reaper = MakeReaper();
  clock_.Advance(25s);
  faults_.plan.Arm("MarkLost", ErrorCode::kConflict);  // bisected
  faults_.plan.Arm("MarkLost", ErrorCode::kFenced);
  reaper.Step(clock_.Steady());
  EXPECT_NE(Row(first.key).state, Row(second.key).state);
  EXPECT_EQ(metrics_.counter("carillon_leases_lost_total").value(), 1u);
}

TEST_F(RecoverTest, UnknownOutcomeOfALossDropsTheSegment) {
  const HeldAttempt held = Start(0);
  LeaseReaper reaper = MakeReaper();
  clock_.Advance(25s);
  faults_.plan.Arm("MarkLost", test::Fault::kTimeoutAfter);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(table_.View()->Find(held.segment), nullptr);
}

TEST_F(RecoverTest, AttemptWhoseResultCameMeanwhileIsNotLost) {
  const HeldAttempt held = Start(0);
  LeaseReaper reaper = MakeReaper();
  const ResultReport report{.key = held.key,
                            .segment = held.segment,
                            .job_no = held.job_no,
                            .attempt = 1,
                            .token = held.token};
  ASSERT_TRUE(
      stores_.firing.ApplyResults({report}, table_.View()->FenceFor({held.segment}), clock_.Wall())
          .ok());
  clock_.Advance(25s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kCompleted);
  EXPECT_EQ(leases_.size(), 0u);
  EXPECT_EQ(metrics_.counter("carillon_leases_lost_total").value(), 0u);
}

TEST_F(RecoverTest, TakeoverGivesFoundRunsALeaseThatOutlastsEveryOldOne) {
  const HeldAttempt held = Start(0);
  Retake();
  Takeover takeover = MakeTakeover();
  takeover.Step(clock_.Steady());
  EXPECT_EQ(table_.View()->ActiveSegments().size(), test::kSegments);
  ASSERT_TRUE(leases_.Knows(held.key));
  LeaseReaper reaper = MakeReaper();
  clock_.Advance(26s - 1us);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
  clock_.Advance(1s);
  reaper.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kLost);
}

TEST_F(RecoverTest, NothingIsActiveBeforeTheScanSucceeded) {
  Start(0);
  Retake();
  Takeover takeover = MakeTakeover();
  faults_.plan.Arm("Scan*", ErrorCode::kUnavailable);
  takeover.Step(clock_.Steady());
  EXPECT_TRUE(table_.View()->ActiveSegments().empty());
  clock_.Advance(1s);
  takeover.Step(clock_.Steady());
  EXPECT_EQ(table_.View()->ActiveSegments().size(), test::kSegments);
}

TEST_F(RecoverTest, CancelIsSentToTheProcessThatHoldsTheAttemptNow) {
  memory::MemorySwitchboard switchboard;
  auto hub = switchboard.OpenHub(MemberId("m1"));
  auto link = switchboard.OpenLink(ExecutorId("x1"), Incarnation("e2"));
  ExecutorTable executors{{}};
  executors.Accept({.id = ExecutorId("x1"), .incarnation = Incarnation("e2")}, clock_.Steady());
  CancelPusher cancels({.store = stores_.firing,
                        .segments = table_,
                        .leases = leases_,
                        .executors = executors,
                        .hub = *hub,
                        .metrics = metrics_});
  const HeldAttempt held = Start(0);
  cancels.Step(clock_.Steady());
  EXPECT_TRUE(link->Receive(10).empty());
  ASSERT_TRUE(stores_.runs.CancelRun(held.key, {.now = clock_.Wall()}).ok());
  cancels.Nudge();
  cancels.Step(clock_.Steady());
  const auto messages = link->Receive(10);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::get<CancelAttempts>(messages[0].message).attempts.at(0).token, held.token);
}

TEST_F(RecoverTest, AKillIsSaidAtOnceAfterAGrace) {
  memory::MemorySwitchboard switchboard;
  auto hub = switchboard.OpenHub(MemberId("m1"));
  auto link = switchboard.OpenLink(ExecutorId("x1"), Incarnation("e1"));
  ExecutorTable executors{{}};
  executors.Accept({.id = ExecutorId("x1"), .incarnation = Incarnation("e1")}, clock_.Steady());
  CancelPusher cancels({.store = stores_.firing,
                        .segments = table_,
                        .leases = leases_,
                        .executors = executors,
                        .hub = *hub,
                        .metrics = metrics_});
  const HeldAttempt deaf = Start(0);
  const HeldAttempt other = Claim(Execute(CreateJob("other", {.type = JobType::kNoop})), 2);
  const auto cancel = [&](const HeldAttempt& held, CancelMode mode) {
    EXPECT_TRUE(stores_.runs.CancelRun(held.key, {.now = clock_.Wall(), .cancel_mode = mode}).ok());
  };
  // Returns the cancels sent in one step, by token, and checks that none is sent twice.
  const auto said = [&] {
    cancels.Nudge();
    cancels.Step(clock_.Steady());
    std::map<uint64_t, CancelMode> words;
    for (const MemberMessage& message : link->Receive(10)) {
      const auto& cancelled = std::get<CancelAttempts>(message.message);
      for (const HeldAttempt& held : cancelled.attempts) {
        EXPECT_TRUE(words.emplace(held.token.low, cancelled.mode).second);
      }
    }
    return words;
  };
  using Words = std::map<uint64_t, CancelMode>;
  cancel(deaf, CancelMode::kGraceful);
  cancel(other, CancelMode::kGraceful);
  EXPECT_EQ(said(), (Words{{deaf.token.low, CancelMode::kGraceful},
                           {other.token.low, CancelMode::kGraceful}}));
  EXPECT_EQ(said(), Words{});  // these cancels were already sent
  cancel(deaf, CancelMode::kKill);
  EXPECT_EQ(said(), (Words{{deaf.token.low, CancelMode::kKill}}));
  cancel(deaf, CancelMode::kGraceful);
  EXPECT_EQ(said(), Words{});
  clock_.Advance(2s);
  EXPECT_EQ(said(),
            (Words{{deaf.token.low, CancelMode::kKill}, {other.token.low, CancelMode::kGraceful}}));
}

TEST_F(RecoverTest, EveryCancelIsSentHoweverManyThereAre) {
  memory::MemorySwitchboard switchboard;
  auto hub = switchboard.OpenHub(MemberId("m1"));
  auto link = switchboard.OpenLink(ExecutorId("x1"), Incarnation("e1"));
  ExecutorTable executors{{}};
  executors.Accept({.id = ExecutorId("x1"), .incarnation = Incarnation("e1")}, clock_.Steady());
  CancelPusher cancels({.store = stores_.firing,
                        .segments = table_,
                        .leases = leases_,
                        .executors = executors,
                        .hub = *hub,
                        .metrics = metrics_});
  const StoredJob job = CreateJob("job", {.type = JobType::kNoop});
  const size_t count = kBatchRowsMax + 3;
  for (size_t i = 0; i < count; ++i) {
    const HeldAttempt held = Claim(Execute(job), i + 1);
    ASSERT_TRUE(stores_.runs.CancelRun(held.key, {.now = clock_.Wall()}).ok());
  }
  cancels.Step(clock_.Steady());
  size_t sent = 0;
  for (const MemberMessage& message : link->Receive(10)) {
    sent += std::get<CancelAttempts>(message.message).attempts.size();
  }
  EXPECT_EQ(sent, count);
}

}  // namespace
}  // namespace carillon::scheduler
