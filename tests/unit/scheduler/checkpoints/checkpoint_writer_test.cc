#include "scheduler/checkpoints/checkpoint_writer.h"

#include "common/adapters/memory/memory_link.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

const LeaseHolder kSaver{ExecutorId("x1"), Incarnation("e1")};

class CheckpointWriterTest : public test::RoomTest {
 protected:
  static RunSave SaveOf(const HeldAttempt& held, uint64_t seq, const std::string& checkpoint) {
    return {.key = held.key,
            .segment = held.segment,
            .job_no = held.job_no,
            .attempt = held.attempt,
            .token = held.token,
            .seq = seq,
            .checkpoint = checkpoint};
  }
  std::vector<SaveAnswer> Step() {
    keeper_.Step(clock_.Steady());
    std::vector<SaveAnswer> answers;
    for (const MemberMessage& message : link_->Receive(100)) {
      answers.push_back(std::get<SaveAnswer>(message.message));
    }
    return answers;
  }

  memory::MemorySwitchboard switchboard_;
  std::unique_ptr<ExecutorHub> hub_ = switchboard_.OpenHub(MemberId("m1"));
  std::unique_ptr<ExecutorLink> link_ = switchboard_.OpenLink(kSaver.executor, kSaver.incarnation);
  SaveQueue progress_{"progress", 16};
  SaveQueue checkpoints_{"checkpoints", 16};
  CheckpointWriter keeper_{{.clock = clock_,
                            .store = faults_.checkpoints,
                            .cluster = cluster_,
                            .segments = table_,
                            .fences = fences_,
                            .hub = *hub_,
                            .progress = progress_,
                            .checkpoints = checkpoints_,
                            .metrics = metrics_}};
};

TEST_F(CheckpointWriterTest, StoresAndAnswers) {
  const HeldAttempt held = Claim(Execute(CreateNoop("job")), 1);
  RunSave said = SaveOf(held, 1, "");
  said.checkpoint.reset();
  said.progress = {.percent = 42, .text = "half"};
  ASSERT_TRUE(progress_.Push({kSaver, said}).ok());
  ASSERT_TRUE(checkpoints_.Push({kSaver, SaveOf(held, 2, "state")}).ok());
  const auto answers = Step();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].seq, 1u);
  EXPECT_EQ(answers[1].seq, 2u);
  EXPECT_TRUE(answers[0].kept && answers[1].kept);
  EXPECT_EQ(answers[0].attempt.token, held.token);
  EXPECT_EQ(faults_.plan.calls("Save"), 1);
  EXPECT_EQ(stores_.checkpoints.ReadCheckpoint(held.key).value(), "state");
  EXPECT_EQ(stores_.runs.GetRun(held.key)->saved.progress, said.progress);
}

TEST_F(CheckpointWriterTest, RefusalIsAnAnswerToo) {
  HeldAttempt held = Claim(Execute(CreateNoop("job")), 1);
  held.token.low = 9;
  ASSERT_TRUE(checkpoints_.Push({kSaver, SaveOf(held, 1, "state")}).ok());
  const auto answers = Step();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_FALSE(answers[0].kept);
}

TEST_F(CheckpointWriterTest, WithoutAWriteThereIsNoAnswerAndNoSegmentIsDropped) {
  const HeldAttempt held = Claim(Execute(CreateNoop("job")), 1);
  faults_.plan.Arm("Save", ErrorCode::kTimeout);
  ASSERT_TRUE(checkpoints_.Push({kSaver, SaveOf(held, 1, "state")}).ok());
  EXPECT_TRUE(Step().empty());
  EXPECT_EQ(owned(), test::kSegments);
}

TEST_F(CheckpointWriterTest, SaveOfAForeignSegmentIsLeftToItsOwner) {
  const HeldAttempt held = Claim(Execute(CreateNoop("job")), 1);
  table_.Drop(table_.View()->FenceFor({held.segment}), DropCause::kReassigned);
  ASSERT_TRUE(checkpoints_.Push({kSaver, SaveOf(held, 1, "state")}).ok());
  EXPECT_TRUE(Step().empty());
  EXPECT_EQ(faults_.plan.calls("Save"), 0);
}

}  // namespace
}  // namespace carillon::scheduler
