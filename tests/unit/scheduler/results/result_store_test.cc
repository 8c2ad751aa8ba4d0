// Results and a store that does not take them: away, broken as a whole, or refusing one of them.
#include "tests/unit/scheduler/results/result_fixture.h"

namespace carillon::scheduler {
namespace {

class ResultApplierStoreTest : public ResultFixture {};

TEST_F(ResultApplierStoreTest, StoreAwayHoldsTheRecordUncommitted) {
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

TEST_F(ResultApplierStoreTest, UnknownOutcomeIsAppliedAgainUnderTheNextEpoch) {
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

TEST_F(ResultApplierStoreTest, RefusedResultIsStoredWithoutItsTexts) {
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

TEST_F(ResultApplierStoreTest, BrokenStoreAcknowledgesNothingAndTheResultsAreAppliedAfterwards) {
  const StoredJob job = CreateNoop("job");
  std::vector<HeldAttempt> held;
  std::vector<ResultMessage> messages;
  for (uint64_t i = 0; i < 20; ++i) {
    held.push_back(Start(job, i));
    messages.push_back(Message(held.back()));
    if (i % 2 == 0) messages.back().report.result.output.clear();
  }
  {
    ResultApplier applier = Make();
    Send(messages);
    faulty_.failing["result"] = ErrorCode::kBrokenStore;
    for (int i = 0; i < 20; ++i) {
      const int before = faulty_.calls["result"];
      applier.Step(clock_.Steady());
      EXPECT_LE(faulty_.calls["result"], before + 1) << "no item is looked for";
      clock_.Advance(50ms);
    }
    EXPECT_GT(faulty_.calls["result"], 2);
    EXPECT_EQ(Acknowledged(), 0u);
    EXPECT_TRUE(applied_.Among(held).empty());
    EXPECT_TRUE(leases_.Knows(held[0].key));
    EXPECT_EQ(Uncommitted(), 1u);
  }
  results_.reset();
  results_ = bus_.NewConsumer(kResultsTopic, "m1");
  ResultApplier applier = Make();
  applier.Step(clock_.Steady());
  faulty_.failing.clear();
  clock_.Advance(2s);
  applier.Step(clock_.Steady());
  for (const HeldAttempt& one : held) EXPECT_EQ(Row(one.key).state, RunState::kCompleted);
  EXPECT_EQ(store_.GetRun(held[1].key)->result.output, "out");
  EXPECT_EQ(Acknowledged(), 20u);
  EXPECT_EQ(Uncommitted(), 0u);
  EXPECT_EQ(metrics_.counter("carillon_results_total", "poison").value(), 0u);
  EXPECT_TRUE(letters_->Poll(10)->empty());
}

TEST_F(ResultApplierStoreTest, RefusalOfEverythingIsTakenForNoItemsFault) {
  const StoredJob job = CreateNoop("job");
  std::vector<HeldAttempt> held;
  std::vector<ResultMessage> messages;
  for (uint64_t i = 0; i < 200; ++i) {
    held.push_back(Start(job, i));
    messages.push_back(Message(held.back()));
  }
  ResultApplier applier = Make();
  Send(messages);
  for (const ErrorCode code : {ErrorCode::kInvalid, ErrorCode::kCorrupt, ErrorCode::kExhausted}) {
    faulty_.failing["result"] = code;
    const int before = faulty_.calls["result"];
    applier.Step(clock_.Steady());
    EXPECT_LE(faulty_.calls["result"], before + 20) << ErrorCodeName(code);
    clock_.Advance(2s);
  }
  EXPECT_EQ(Acknowledged(), 0u);
  EXPECT_TRUE(applied_.Among(held).empty());
  faulty_.failing.clear();
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 200u);
  for (const HeldAttempt& one : held) EXPECT_EQ(store_.GetRun(one.key)->result.output, "out");
  EXPECT_EQ(metrics_.counter("carillon_results_total", "poison").value(), 0u);
}

TEST_F(ResultApplierStoreTest, ResultThatIsRefusedWithoutItsTextsTooStaysWithItsExecutor) {
  const StoredJob job = CreateNoop("job");
  const HeldAttempt bad = Start(job, 1);
  const HeldAttempt good = Start(job, 2);
  faulty_.refuses_result = [&](const ResultReport& report) { return report.key == bad.key; };
  ResultApplier applier = Make();
  Send({Message(bad)});
  for (int i = 0; i < 3; ++i) {
    applier.Step(clock_.Steady());
    clock_.Advance(2s);
  }
  EXPECT_EQ(metrics_.counter("carillon_results_total", "poison").value(), 0u)
      << "nothing shows that the store takes any";
  Send({Message(good)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(metrics_.counter("carillon_results_total", "poison").value(), 1u);
  EXPECT_EQ(Row(good.key).state, RunState::kCompleted);
  EXPECT_EQ(Acknowledged(), 1u) << "the good one's";
  EXPECT_TRUE(applied_.Among({bad}).empty());
  EXPECT_TRUE(leases_.Knows(bad.key)) << "its run is RUNNING";
  EXPECT_EQ(letters_->Poll(10)->size(), 1u);
  faulty_.refuses_result = {};
  Send({Message(bad)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(store_.GetRun(bad.key)->result.output, "out");
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierStoreTest, RecordBehindAnOpenOneIsNotCommitted) {
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
