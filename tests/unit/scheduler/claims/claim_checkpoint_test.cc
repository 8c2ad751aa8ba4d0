// Answers to claims with what an earlier attempt has saved.
#include "scheduler/claims/checkpoint_answers.h"
#include "tests/unit/scheduler/claims/claim_fixture.h"

namespace carillon::scheduler {
namespace {

class ClaimCheckpointTest : public ClaimApplierTest {
 protected:
  // A run whose first attempt has saved something and failed.
  RunRow SecondAttempt() {
    JobDefinition definition;
    definition.command = "true";
    definition.retry_count = 3;
    const HeldAttempt first = Claim(Execute(CreateJob("job", definition)), 1);
    const Fence fence = table_.View()->FenceFor({first.segment});
    const RunSave save{.key = first.key,
                       .segment = first.segment,
                       .job_no = first.job_no,
                       .token = first.token,
                       .seq = 1,
                       .checkpoint = "state"};
    EXPECT_TRUE(stores_.checkpoints.Save({save}, fence, clock_.Wall()).ok());
    ResultReport report{.key = first.key,
                        .segment = first.segment,
                        .job_no = first.job_no,
                        .token = first.token,
                        .executor = ExecutorId("x1")};
    report.result = {.state = RunState::kFailed, .exit_code = 3, .ended = clock_.Wall()};
    EXPECT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
    clock_.Advance(1h);
    SampleClock();
    TakeAll();
    executors_.Accept({.id = kHolder.executor, .incarnation = kHolder.incarnation},
                      clock_.Steady());
    return Row(first.key);
  }
  // The answers to this claim.
  std::vector<ClaimBatchReply::Item> AnswersTo(const ClaimRequest& request) {
    Ask({request});
    clock_.Advance(10ms);
    applier_.Step(clock_.Steady());
    reader_.Step(clock_.Steady());
    return Answers();
  }

  CheckpointAnswers reader_{
      {.store = faults_.checkpoints, .hub = *hub_, .queue = checkpoint_answers_}};
  ClaimApplier applier_ = Make();
};

TEST_F(ClaimCheckpointTest, LaterAttemptGetsTheCheckpointIfItsExecutorTakesIt) {
  const RunRow second = SecondAttempt();
  ASSERT_EQ(second.attempt, 2);
  EXPECT_TRUE(AnswersTo(ClaimOf(second, 2)).empty()) << "it is unknown what the executor takes";
  for (const bool takes : {false, true}) {
    Beat(takes ? Features{Feature::kCheckpoints} : Features{});
    const auto answers = AnswersTo(ClaimOf(second, 2));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].verdict, ClaimVerdict::kAcceptedAgain);
    EXPECT_EQ(answers[0].checkpoint, takes ? std::optional<std::string>("state") : std::nullopt);
  }
}

TEST_F(ClaimCheckpointTest, ClaimsOfOthersDoNotWaitForTheRead) {
  const RunRow second = SecondAttempt();
  Beat({Feature::kCheckpoints});
  Ask({ClaimOf(second, 2), ClaimOf(Execute(CreateJob("other", {.command = "true"})), 3)});
  clock_.Advance(10ms);
  applier_.Step(clock_.Steady());
  EXPECT_EQ(faults_.plan.calls("ReadCheckpoint"), 0);
  const auto at_once = Answers();
  ASSERT_EQ(at_once.size(), 1u);
  EXPECT_EQ(at_once[0].token, (ClaimToken{1, 3}));
  reader_.Step(clock_.Steady());
  const auto later = Answers();
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].checkpoint, "state");
}

TEST_F(ClaimCheckpointTest, ARepeatedClaimDoesNotBringTheCheckpointOnceMoreAtOnce) {
  const ClaimRequest claim = ClaimOf(SecondAttempt(), 2);
  Beat({Feature::kCheckpoints});
  faults_.plan.Arm("ReadCheckpoint", ErrorCode::kUnavailable);
  EXPECT_TRUE(AnswersTo(claim).empty());
  EXPECT_EQ(AnswersTo(claim).size(), 1u) << "nothing was sent before";
  EXPECT_TRUE(AnswersTo(claim).empty()) << "the answer is on its way";
  EXPECT_EQ(faults_.plan.calls("ReadCheckpoint"), 2);
  clock_.Advance(CheckpointAnswers::kAgainAfter);
  EXPECT_EQ(AnswersTo(claim).size(), 1u) << "it was lost";
}

}  // namespace
}  // namespace carillon::scheduler
