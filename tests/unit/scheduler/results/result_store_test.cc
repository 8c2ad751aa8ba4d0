// Results while the store is unavailable or broken as a whole, or refuses one of the results.
#include <map>
#include <set>

#include "tests/unit/scheduler/results/result_fixture.h"

namespace carillon::scheduler {
namespace {

// A consumer that generates its records on demand: bundles of eight results with 64 KiB of output.
// Each round has the same records.
class MadeResults final : public BusConsumer {
 public:
  static constexpr size_t kResults = 8;
  MadeResults(size_t records, size_t rounds, ResultMessage like)
      : records_(records), end_(records * rounds), like_(std::move(like)) {
    like_.report.result.output = std::string(64u << 10, 'x');
  }
  Result<std::vector<ReceivedRecord>> Poll(size_t max) override {
    std::vector<ReceivedRecord> polled;
    for (; polled.size() < max && next_ < end_; ++next_) {
      std::vector<ResultMessage> bundle(kResults, like_);
      for (size_t i = 0; i < kResults; ++i) {
        bundle[i].report.token = {7, next_ % records_ * kResults + i};
      }
      polled.push_back(
          {.record = {.payload = EncodeResults(bundle)}, .offset = static_cast<int64_t>(next_)});
    }
    return polled;
  }
  Status Commit(const std::vector<ReceivedRecord>& handled) override {
    committed += handled.size();
    return {};
  }
  void OnReadable(std::function<void()>) override {}
  BusHealth Look() override { return {}; }
  size_t polled() const { return next_; }
  size_t committed = 0;

 private:
  const size_t records_;
  const size_t end_;
  ResultMessage like_;
  size_t next_ = 0;
};

class ResultApplierStoreTest : public ResultFixture {};

TEST_F(ResultApplierStoreTest, StoreAwayHoldsTheRecordUncommitted) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  ResultApplier applier = Make();
  faults_.plan.Arm("ApplyResults", ErrorCode::kUnavailable);
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
  faults_.plan.Arm("ApplyResults", test::Fault::kTimeoutAfter);
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
  faults_.plan.Refuse<ResultReport>([&](const ResultReport& report) {
    return report.key == bad.key && !report.result.output.empty();
  });
  ResultApplier applier = Make();
  Send({Message(bad), Message(good)});
  applier.Step(clock_.Steady());
  EXPECT_EQ(Row(bad.key).state, RunState::kCompleted);
  EXPECT_TRUE(stores_.runs.GetRun(bad.key)->result.output.empty());
  EXPECT_TRUE(stores_.runs.GetRun(bad.key)->result.output_truncated);
  EXPECT_EQ(stores_.runs.GetRun(good.key)->result.output, "out");
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
    faults_.plan.ArmAlways("ApplyResults", ErrorCode::kBrokenStore);
    for (int i = 0; i < 20; ++i) {
      const int before = faults_.plan.calls("ApplyResults");
      applier.Step(clock_.Steady());
      EXPECT_LE(faults_.plan.calls("ApplyResults"), before + 1) << "no item is looked for";
      clock_.Advance(50ms);
    }
    EXPECT_GT(faults_.plan.calls("ApplyResults"), 2);
    EXPECT_EQ(Acknowledged(), 0u);
    EXPECT_TRUE(applied_.Among(held).empty());
    EXPECT_TRUE(leases_.Knows(held[0].key));
    EXPECT_EQ(Uncommitted(), 1u);
  }
  results_.reset();
  results_ = bus_.NewConsumer(kResultsTopic, "m1");
  ResultApplier applier = Make();
  applier.Step(clock_.Steady());
  faults_.plan.Recover();
  clock_.Advance(2s);
  applier.Step(clock_.Steady());
  for (const HeldAttempt& one : held) EXPECT_EQ(Row(one.key).state, RunState::kCompleted);
  EXPECT_EQ(stores_.runs.GetRun(held[1].key)->result.output, "out");
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
    faults_.plan.ArmAlways("ApplyResults", code);
    const int before = faults_.plan.calls("ApplyResults");
    applier.Step(clock_.Steady());
    EXPECT_LE(faults_.plan.calls("ApplyResults"), before + 20) << ErrorCodeName(code);
    clock_.Advance(2s);
  }
  EXPECT_EQ(Acknowledged(), 0u);
  EXPECT_TRUE(applied_.Among(held).empty());
  faults_.plan.Recover();
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 200u);
  for (const HeldAttempt& one : held) EXPECT_EQ(stores_.runs.GetRun(one.key)->result.output, "out");
  EXPECT_EQ(metrics_.counter("carillon_results_total", "poison").value(), 0u);
}

TEST_F(ResultApplierStoreTest, ResultThatIsRefusedWithoutItsTextsTooStaysWithItsExecutor) {
  const StoredJob job = CreateNoop("job");
  const HeldAttempt bad = Start(job, 1);
  const HeldAttempt good = Start(job, 2);
  faults_.plan.Refuse<ResultReport>([&](const auto& report) { return report.key == bad.key; });
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
  faults_.plan.Refuse<ResultReport>(nullptr);
  Send({Message(bad)});
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(stores_.runs.GetRun(bad.key)->result.output, "out");
  EXPECT_EQ(Acknowledged(), 1u);
  EXPECT_EQ(Uncommitted(), 0u);
}

TEST_F(ResultApplierStoreTest, WhatWaitsForTheStoreIsBoundedInBytes) {
  constexpr size_t kLimit = 64u << 20;
  MadeResults results(600, 2, Message(Start(CreateNoop("job"), 1)));  // 300 MiB, twice
  ResultApplier applier = Make(results);
  faults_.plan.ArmAlways("ApplyResults", ErrorCode::kUnavailable);
  for (int i = 0; i < 100; ++i) {
    const int before = faults_.plan.calls("ApplyResults");
    applier.Step(clock_.Steady());
    EXPECT_LE(applier.bytes_held(), kLimit);
    EXPECT_LE(faults_.plan.calls("ApplyResults"), before + 1) << "one failure is enough for a step";
    clock_.Advance(100ms);
  }
  EXPECT_GT(applier.bytes_held(), kLimit * 9 / 10);
  EXPECT_EQ(results.committed, 0u);
  faults_.plan.Recover();
  clock_.Advance(1s);
  std::set<ClaimToken> acknowledged;
  for (int i = 0; i < 1000 && results.committed < 1200; ++i) {
    SampleClock();
    applier.Step(clock_.Steady());
    EXPECT_LE(applier.bytes_held(), kLimit);
    clock_.Advance(25ms);
    for (const MemberMessage& message : link_->Receive(10'000)) {
      for (const HeldAttempt& held : std::get<ResultsApplied>(message.message).applied) {
        acknowledged.insert(held.token);
      }
    }
  }
  EXPECT_EQ(results.committed, 1200u) << "what stayed on the bus was read when there was room";
  EXPECT_EQ(acknowledged.size(), 600 * MadeResults::kResults);
  EXPECT_EQ(applier.bytes_held(), 0u);
}

TEST_F(ResultApplierStoreTest, ResultsThatComeAgainWhileTheStoreIsAwayAreHeldOnce) {
  MadeResults once(32, 1, Message(Start(CreateNoop("a"), 1)));
  MadeResults thrice(32, 3, Message(Start(CreateNoop("b"), 2)));
  faults_.plan.ArmAlways("ApplyResults", ErrorCode::kUnavailable);
  ResultApplier applier_of_one = Make(once);
  ResultApplier applier = Make(thrice);
  applier_of_one.Step(clock_.Steady());
  applier.Step(clock_.Steady());
  EXPECT_EQ(thrice.polled(), 96u);
  EXPECT_EQ(applier.bytes_held(), applier_of_one.bytes_held());
  std::map<ClaimToken, int> asked;
  faults_.plan.Refuse<ResultReport>([&](const ResultReport& report) {
    ++asked[report.token];
    return false;
  });
  faults_.plan.Recover();
  clock_.Advance(1s);
  applier.Step(clock_.Steady());
  EXPECT_EQ(asked.size(), 32 * MadeResults::kResults);
  for (const auto& [token, times] : asked) EXPECT_EQ(times, 1) << token.low;
  EXPECT_EQ(thrice.committed, 96u);
}

TEST_F(ResultApplierStoreTest, OneFailureOfTheStoreIsEnoughForAStep) {
  const HeldAttempt held = Start(CreateNoop("job"), 1);
  std::vector<ResultMessage> messages;
  for (uint64_t i = 0; i < 2500; ++i) {
    messages.push_back(Message(held));
    messages.back().report.token = {9, i};
    if (messages.size() == kBundleTasksMax) {
      Send(messages);
      messages.clear();
    }
  }
  Send(messages);
  ResultApplier applier = Make();
  for (const ErrorCode code :
       {ErrorCode::kUnavailable, ErrorCode::kBrokenStore, ErrorCode::kDenied}) {
    faults_.plan.ArmAlways("ApplyResults", code);
    const int before = faults_.plan.calls("ApplyResults");
    applier.Step(clock_.Steady());
    EXPECT_EQ(faults_.plan.calls("ApplyResults"), before + 1) << ErrorCodeName(code);
    clock_.Advance(2s);
  }
}

TEST_F(ResultApplierStoreTest, ResultInConflictDoesNotHoldUpTheOthers) {
  const StoredJob job = CreateNoop("job");
  const HeldAttempt bad = Start(job, 1);
  std::vector<ResultMessage> messages{Message(bad)};
  for (uint64_t i = 2; i < 50; ++i) messages.push_back(Message(Start(job, i)));
  faults_.plan.Refuse<ResultReport>([&](const auto& report) { return report.key == bad.key; },
                                    ErrorCode::kConflict);
  ResultApplier applier = Make();
  Send(messages);
  applier.Step(clock_.Steady());
  EXPECT_EQ(Acknowledged(), 48u);
  EXPECT_TRUE(applied_.Among({bad}).empty());
  EXPECT_TRUE(letters_->Poll(10)->empty()) << "its texts are not to blame";
  EXPECT_EQ(Uncommitted(), 0u) << "its executor keeps it";
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
