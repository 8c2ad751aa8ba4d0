#include "scheduler/results/result_applier.h"

#include "common/adapters/memory/memory_bus.h"
#include "common/adapters/memory/memory_link.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class ResultApplierTest : public test::RoomTest {
 protected:
  ResultApplierTest()
      : hub_(switchboard_.OpenHub(MemberId("m1"))),
        link_(switchboard_.OpenLink(ExecutorId("x1"), Incarnation("e1"))),
        results_(bus_.NewConsumer(kResultsTopic, "m1")),
        letters_(bus_.NewConsumer(kDeadLettersTopic, "test")),
        producer_(bus_.NewProducer()) {
    executors_.Accept({.id = ExecutorId("x1"), .incarnation = Incarnation("e1")}, clock_.Steady());
  }
  ResultApplier Make() {
    return ResultApplier({.clock = clock_,
                          .store = faulty_,
                          .cluster = cluster_,
                          .segments = table_,
                          .fences = fences_,
                          .leases = leases_,
                          .applied = applied_,
                          .executors = executors_,
                          .hub = *hub_,
                          .results = *results_,
                          .producer = *producer_,
                          .feed = feed_,
                          .events = events_,
                          .metrics = metrics_},
                         {.wants = [this](SegmentId) { return wants_; }});
  }
  // A run that was claimed and has a lease.
  HeldAttempt Start(const StoredJob& job, uint64_t token) {
    const HeldAttempt held = Claim(Execute(job), token);
    leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{held, EpochOf(held.segment)}},
                     clock_.Steady());
    return held;
  }
  ResultMessage Message(const HeldAttempt& held, RunState state = RunState::kCompleted) {
    return {.report = {.key = held.key,
                       .segment = held.segment,
                       .job_no = held.job_no,
                       .attempt = held.attempt,
                       .token = held.token,
                       .executor = ExecutorId("x1"),
                       .result = {.state = state,
                                  .started = clock_.Wall(),
                                  .ended = clock_.Wall(),
                                  .output = "out"}},
            .job_id = JobId("job")};
  }
  void Send(const std::vector<ResultMessage>& messages) {
    ASSERT_TRUE(producer_->Send(kResultsTopic, 0, {.payload = EncodeResults(messages)}).ok());
  }
  size_t Acknowledged() {
    size_t count = 0;
    for (const MemberMessage& message : link_->Receive(100)) {
      count += std::get<ResultsApplied>(message.message).applied.size();
    }
    return count;
  }
  // What a consumer that starts over would get again.
  size_t Uncommitted() {
    results_.reset();
    results_ = bus_.NewConsumer(kResultsTopic, "m1");
    return results_->Poll(1000)->size();
  }

  memory::MemorySwitchboard switchboard_;
  memory::MemoryBus bus_;
  std::unique_ptr<ExecutorHub> hub_;
  std::unique_ptr<ExecutorLink> link_;
  std::unique_ptr<BusConsumer> results_;
  std::unique_ptr<BusConsumer> letters_;
  std::unique_ptr<BusProducer> producer_;
  ExecutorTable executors_{{}};
  bool wants_ = true;
};

TEST_F(ResultApplierTest, AppliesFreesTheLeaseCommitsAndAcknowledges) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kCompleted);
  EXPECT_FALSE(leases_.Knows(held.key));
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(applied_.Among({held}).size(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierTest, RepeatedResultChangesNothingAndIsAcknowledgedAgain) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  Send({Message(held)});
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 2u);
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "COMPLETED").value(), 1u);
}

TEST_F(ResultApplierTest, RetryGoesToTheFeed) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.retry_count = 1;
  job.retry_interval_s = 5;
  const HeldAttempt held = Start(CreateJob("job", job), 1);
  ResultApplier applier = Make();
  Send({Message(held, RunState::kFailed)});
  applier.Step(clock_.Steady());
  const auto fed = feed_.PopUpTo(10);
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].at(0).attempt, 2);
  EXPECT_EQ(fed[0].at(0).due, clock_.Wall() + 5s);
}

TEST_F(ResultApplierTest, StoreAwayHoldsTheRecordUncommitted) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  faulty_.FailNext("result", ErrorCode::kUnavailable);
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 0u);
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(Row(held.key).state, RunState::kCompleted);
}

TEST_F(ResultApplierTest, UnknownOutcomeIsAppliedAgainUnderTheNextEpoch) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  faulty_.LoseReply("result");
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(table_.View()->Find(held.segment), nullptr);
  EXPECT_EQ(Acknowledged(), 0u);
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 0u);
  TakeAll();
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
}

TEST_F(ResultApplierTest, ResultOfAnUnownedSegmentIsNeitherLostNorCommitted) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  {
    ResultApplier applier = Make();
    Send({Message(held)});
    applier.Step(clock_.Steady());
    EXPECT_EQ(Acknowledged(), 0u);
  }
  EXPECT_EQ(Uncommitted(), 1u);
}

TEST_F(ResultApplierTest, ResultOfAnotherMembersSegmentIsLeftToIt) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  wants_ = false;
  {
    ResultApplier applier = Make();
    Send({Message(held)});
    applier.Step(clock_.Steady());
    EXPECT_EQ(Acknowledged(), 0u);
  }
  EXPECT_EQ(Uncommitted(), 0u);
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
}

TEST_F(ResultApplierTest, RefusedResultIsStoredWithoutItsTexts) {
  const StoredJob job = CreateNoop("job");
  const HeldAttempt bad = Start(job, 1);
  const HeldAttempt good = Start(job, 2);
  faulty_.refuses_result = [&](const ResultReport& report) {
    return report.key == bad.key && !report.result.output.empty();
  };
  ResultApplier applier = Make();
  Send({Message(bad), Message(good)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(bad.key).state, RunState::kCompleted);
  EXPECT_TRUE(store_.GetRun(bad.key)->result.output.empty());
  EXPECT_TRUE(store_.GetRun(bad.key)->result.output_truncated);
  EXPECT_EQ(store_.GetRun(good.key)->result.output, "out");
  EXPECT_EQ(Acknowledged(), 2u);
  EXPECT_EQ(letters_->Poll(10)->size(), 1u);
}

TEST_F(ResultApplierTest, UndecodableRecordGoesToTheDeadLettersAndBlocksNothing) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  ASSERT_TRUE(producer_->Send(kResultsTopic, 0, {.payload = "\xff\xff not a bundle"}).ok());
  Send({Message(held)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(letters_->Poll(10)->size(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
  EXPECT_EQ(metrics_.counter("carillon_rejected_messages_total", "corrupt").value(), 1u);
}

TEST_F(ResultApplierTest, RecordBehindAnOpenOneIsNotCommitted) {
  const HeldAttempt first = Start(CreateNoop("a"), 1);
  const HeldAttempt second = Start(CreateNoop("b"), 2);
  ASSERT_NE(first.segment, second.segment);
  table_.Drop(table_.View()->FenceFor({first.segment}), DropCause::kUnknownOutcome);
  {
    ResultApplier applier = Make();
    Send({Message(first)});
    Send({Message(second)});
    applier.Step(clock_.Steady());
    EXPECT_EQ(Acknowledged(), 1u);
  }
  EXPECT_EQ(Uncommitted(), 2u);
}

}  // namespace
}  // namespace carillon::scheduler
