#include "executor/checkpoints/checkpoint_tracker.h"

#include <gtest/gtest.h>

namespace carillon::executor::checkpoint_tracker_test {
namespace {

constexpr SteadyTime At(Duration time) { return SteadyTime(time); }

class CheckpointTrackerTest : public ::testing::Test {
 protected:
  CheckpointTrackerTest() { book_.Meet(MemberId("m1"), true); }

  static HeldAttempt Held(uint64_t run, int attempt = 1) {
    return {.key = {FromUnixMicros(1), ScheduleId(run), 0},
            .attempt = attempt,
            .token = {.high = run, .low = static_cast<uint64_t>(attempt)}};
  }
  static RunFile FileOf(const HeldAttempt& held, RunFileKind kind) {
    return {held.key, held.attempt, kind};
  }
  static RunFile Checkpoint(const HeldAttempt& held) {
    return FileOf(held, RunFileKind::kCheckpoint);
  }
  static RunFile Progress(const HeldAttempt& held) { return FileOf(held, RunFileKind::kProgress); }
  static RunFileMark Mark(uint64_t inode) { return {.inode = inode, .size = 1, .changed_ns = 1}; }
  static ReportedResult ResultOf(const HeldAttempt& held, RunState state = RunState::kFailed) {
    return {.ended = {.attempt = held, .result = {.state = state}}, .home = ResultHome::kWarden};
  }
  // Carries out the next order as if the files had these contents; nullopt: nothing to do.
  std::optional<CheckpointTracker::Order> SaveNext(SteadyTime now, size_t bytes = 1,
                                                   uint64_t inode = 1) {
    const auto order = book_.Next(now);
    if (!order) return order;
    CheckpointTracker::Marks marks;
    if (order->progress) marks[0] = Mark(inode);
    if (order->checkpoint) marks[1] = Mark(inode);
    book_.Sent(*order, marks, order->checkpoint ? bytes : 0, now);
    return order;
  }
  // The only result that is released; nullopt: none.
  std::optional<AttemptResult> Released(SteadyTime now) {
    const auto released = book_.Release(now);
    if (released.empty()) return std::nullopt;
    EXPECT_EQ(released.size(), 1u);
    return released[0].ended.result;
  }
  void EndOf(const HeldAttempt& held, SteadyTime now, RunState state = RunState::kFailed) {
    book_.Hold(ResultOf(held, state), now);
    EXPECT_EQ(book_.Unlooked(), std::vector{IdOf(held)});
  }

  const HeldAttempt one_ = Held(1);
  const MemberId m1_{"m1"};
  CheckpointTracker book_;
};

TEST_F(CheckpointTrackerTest, SavesAContentOnce) {
  book_.Watch(one_, m1_);
  EXPECT_FALSE(SaveNext(At(1s)));
  book_.Found(Checkpoint(one_), Mark(1));
  const auto order = SaveNext(At(1s));
  ASSERT_TRUE(order);
  EXPECT_TRUE(order->checkpoint);
  EXPECT_FALSE(order->progress);
  EXPECT_EQ(order->member, m1_);
  book_.Answered(one_, order->seq);
  book_.Found(Checkpoint(one_), Mark(1));
  EXPECT_FALSE(SaveNext(At(9s)));
  book_.Found(Checkpoint(one_), Mark(2));
  EXPECT_TRUE(SaveNext(At(9s), 1, 2));
}

TEST_F(CheckpointTrackerTest, OneSaveAtATimeAndTheNewestContentNext) {
  book_.Watch(one_, m1_);
  book_.Found(Checkpoint(one_), Mark(1));
  const auto first = SaveNext(At(1s));
  ASSERT_TRUE(first);
  for (const uint64_t inode : {2u, 3u}) book_.Found(Checkpoint(one_), Mark(inode));
  EXPECT_FALSE(SaveNext(At(2s)));
  book_.Answered(one_, first->seq - 1);  // of an earlier save
  EXPECT_FALSE(SaveNext(At(2s)));
  book_.Answered(one_, first->seq);
  const auto second = SaveNext(At(2s), 1, 3);
  ASSERT_TRUE(second);
  EXPECT_GT(second->seq, first->seq);
  book_.Answered(one_, second->seq);
  EXPECT_FALSE(SaveNext(At(3s)));
}

TEST_F(CheckpointTrackerTest, UnansweredSaveIsRepeatedWithTheContentOfThen) {
  book_.Watch(one_, m1_);
  book_.Found(Progress(one_), Mark(1));
  const auto first = SaveNext(At(1s));
  ASSERT_TRUE(first);
  EXPECT_EQ(book_.NextDue(At(1s)), At(6s));
  EXPECT_FALSE(SaveNext(At(5s)));
  const auto second = SaveNext(At(6s));
  ASSERT_TRUE(second);
  EXPECT_GT(second->seq, first->seq);
}

TEST_F(CheckpointTrackerTest, NewOwnerGetsWhatTheFormerOneDidNotAnswer) {
  book_.Watch(one_, m1_);
  book_.Found(Progress(one_), Mark(1));
  ASSERT_TRUE(SaveNext(At(1s)));
  const MemberId m2("m2");
  book_.Own(one_, m2);
  EXPECT_FALSE(SaveNext(At(1s))) << "it is unknown whether this member takes saves";
  book_.Meet(m2, true);
  const auto order = SaveNext(At(1s));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->member, m2);
}

TEST_F(CheckpointTrackerTest, CheckpointsTakeAPartOfTheLinkAndProgressDoesNotWaitForThem) {
  const HeldAttempt two = Held(2);
  for (const HeldAttempt& held : {one_, two}) {
    book_.Watch(held, m1_);
    book_.Found(Checkpoint(held), Mark(1));
  }
  const auto first = SaveNext(At(1s), 1u << 20);
  ASSERT_TRUE(first);
  book_.Answered(one_, first->seq);
  EXPECT_FALSE(SaveNext(At(1s)));
  EXPECT_EQ(book_.NextDue(At(1s)), At(2s));
  book_.Found(Progress(two), Mark(1));
  const auto progress = SaveNext(At(1s));
  ASSERT_TRUE(progress);
  EXPECT_TRUE(progress->progress);
  EXPECT_FALSE(progress->checkpoint);
  book_.Answered(two, progress->seq);
  const auto checkpoint = SaveNext(At(2s));
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(IdOf(checkpoint->held), IdOf(two));
}

// On a slow line a save is not answered before it has arrived.
TEST_F(CheckpointTrackerTest, CheckpointsFollowAtThePaceOfTheAnswers) {
  const HeldAttempt two = Held(2);
  for (const HeldAttempt& held : {one_, two}) {
    book_.Watch(held, m1_);
    book_.Found(Checkpoint(held), Mark(1));
  }
  const auto first = SaveNext(At(1s), CheckpointTracker::kUnansweredBytesMax);
  ASSERT_TRUE(first);
  EXPECT_FALSE(SaveNext(At(4s))) << "the line still has the first one";
  EXPECT_EQ(book_.NextDue(At(4s)), At(6s)) << "nothing is looked at in vain meanwhile";
  book_.Found(Progress(two), Mark(1));
  const auto progress = SaveNext(At(4s));
  ASSERT_TRUE(progress);
  EXPECT_FALSE(progress->checkpoint);
  book_.Answered(two, progress->seq);
  book_.Answered(one_, first->seq);
  const auto second = SaveNext(At(4s));
  ASSERT_TRUE(second);
  EXPECT_EQ(IdOf(second->held), IdOf(two));
}

TEST_F(CheckpointTrackerTest, ASaveThatIsNotAnsweredIsRepeatedEverMoreSeldom) {
  book_.Watch(one_, m1_);
  book_.Found(Checkpoint(one_), Mark(1));
  std::optional<CheckpointTracker::Order> last;
  SteadyTime now = At(1s);
  for (const Duration wait : {5s, 10s, 20s, 40s, 60s, 60s}) {
    last = SaveNext(now, 1u << 20);
    ASSERT_TRUE(last);
    EXPECT_EQ(book_.NextDue(now), now + wait);
    EXPECT_FALSE(SaveNext(now + wait - Duration(1)));
    now += wait;
  }
  last = SaveNext(now, 1u << 20);
  ASSERT_TRUE(last);
  book_.Answered(one_, last->seq);
  book_.Found(Checkpoint(one_), Mark(2));
  now += 10s;
  ASSERT_TRUE(SaveNext(now, 1u << 20, 2));
  EXPECT_EQ(book_.NextDue(now), now + CheckpointTracker::kAnswerWithin);
}

TEST_F(CheckpointTrackerTest, AttemptsTakeTurns) {
  const HeldAttempt two = Held(2);
  uint64_t inode = 1;
  for (const HeldAttempt& held : {one_, two}) book_.Watch(held, m1_);
  std::vector<AttemptId> served;
  for (SteadyTime now = At(1s); now < At(5s); now += 1s, ++inode) {
    for (const HeldAttempt& held : {one_, two}) book_.Found(Checkpoint(held), Mark(inode));
    const auto order = SaveNext(now, 1u << 20, inode);
    ASSERT_TRUE(order);
    book_.Answered(order->held, order->seq);
    served.push_back(IdOf(order->held));
  }
  EXPECT_EQ(served, (std::vector{IdOf(one_), IdOf(two), IdOf(one_), IdOf(two)}));
}

TEST_F(CheckpointTrackerTest, ResultWaitsForItsLastSave) {
  book_.Watch(one_, m1_);
  EndOf(one_, At(10s));
  EXPECT_FALSE(Released(At(10s))) << "its files were not looked at";
  EXPECT_EQ(book_.NextDue(At(10s)), At(10s));
  book_.Found(Checkpoint(one_), Mark(1));
  book_.Looked(IdOf(one_));
  EXPECT_FALSE(Released(At(10s)));
  const auto order = SaveNext(At(10s));
  ASSERT_TRUE(order);
  EXPECT_FALSE(Released(At(11s)));
  book_.Answered(one_, order->seq);
  const auto result = Released(At(11s));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->saved);
  EXPECT_EQ(result->error, "");
  EXPECT_EQ(book_.held(), 0u);
}

TEST_F(CheckpointTrackerTest, ResultGoesWithoutAnAnswerAndSaysSo) {
  book_.Watch(one_, m1_);
  EndOf(one_, At(10s));
  book_.Found(Checkpoint(one_), Mark(1));
  book_.Looked(IdOf(one_));
  ASSERT_TRUE(SaveNext(At(10s)));
  EXPECT_FALSE(Released(At(15s) - Duration(1)));
  const auto result = Released(At(15s));
  ASSERT_TRUE(result);
  EXPECT_NE(result->error.find("not stored in time"), std::string::npos);
}

TEST_F(CheckpointTrackerTest, ResultWithoutFilesPassesAtOnce) {
  EndOf(one_, At(10s));
  book_.Looked(IdOf(one_));
  const auto result = Released(At(10s));
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->saved);
}

TEST_F(CheckpointTrackerTest, SuccessDoesNotWait) {
  book_.Watch(one_, m1_);
  EndOf(one_, At(10s), RunState::kCompleted);
  book_.Found(Progress(one_), Mark(1));
  book_.Looked(IdOf(one_));
  const auto result = Released(At(10s));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->saved);
}

TEST_F(CheckpointTrackerTest, ResultDoesNotWaitForAnOlderMember) {
  book_.Watch(one_, MemberId("old"));
  EndOf(one_, At(10s));
  book_.Found(Checkpoint(one_), Mark(1));
  book_.Looked(IdOf(one_));
  EXPECT_FALSE(SaveNext(At(10s)));
  EXPECT_TRUE(Released(At(10s)));
}

TEST_F(CheckpointTrackerTest, LastSavesGoFirst) {
  const HeldAttempt two = Held(2);
  for (const HeldAttempt& held : {one_, two}) {
    book_.Watch(held, m1_);
    book_.Found(Checkpoint(held), Mark(1));
  }
  book_.Hold(ResultOf(two), At(1s));
  book_.Looked(IdOf(two));
  const auto order = SaveNext(At(1s));
  ASSERT_TRUE(order);
  EXPECT_EQ(IdOf(order->held), IdOf(two));
}

TEST_F(CheckpointTrackerTest, PlacedCheckpointIsNotSavedAgain) {
  book_.Watch(one_, m1_);
  book_.Placed(IdOf(one_), Mark(1));
  book_.Found(Checkpoint(one_), Mark(1));
  EXPECT_FALSE(SaveNext(At(1s)));
  EndOf(one_, At(2s), RunState::kCompleted);
  book_.Looked(IdOf(one_));
  const auto result = Released(At(2s));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->saved);
}

TEST_F(CheckpointTrackerTest, RefusedContentIsToldOnceAndItsSuccessorIsTaken) {
  book_.Watch(one_, m1_);
  book_.Found(Checkpoint(one_), Mark(1));
  ASSERT_TRUE(book_.Next(At(1s)));
  EXPECT_TRUE(book_.Refuse(Checkpoint(one_), "too large"));
  EXPECT_FALSE(book_.Refuse(Checkpoint(one_), "too large"));
  EXPECT_FALSE(book_.Next(At(1s)));
  book_.Found(Checkpoint(one_), Mark(2));
  EXPECT_TRUE(SaveNext(At(1s), 1, 2));
}

TEST_F(CheckpointTrackerTest, ResultNamesAContentThatWasRefusedAtTheEnd) {
  book_.Watch(one_, m1_);
  EndOf(one_, At(10s));
  book_.Found(Checkpoint(one_), Mark(1));
  book_.Looked(IdOf(one_));
  ASSERT_TRUE(book_.Next(At(10s)));
  EXPECT_TRUE(book_.Refuse(Checkpoint(one_), "too large"));
  const auto result = Released(At(10s));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error, "too large");
}

TEST_F(CheckpointTrackerTest, FailureIsTriedAgainLater) {
  book_.Watch(one_, m1_);
  book_.Found(Checkpoint(one_), Mark(1));
  const auto order = book_.Next(At(1s));
  ASSERT_TRUE(order);
  book_.Failed(*order, At(1s));
  EXPECT_FALSE(book_.Next(At(1s)));
  EXPECT_EQ(book_.NextDue(At(1s)), At(1s) + CheckpointTracker::kRetryAfter);
  EXPECT_TRUE(book_.Next(At(1s) + CheckpointTracker::kRetryAfter));
}

TEST_F(CheckpointTrackerTest, FileThatIsGoneIsNotReadAgain) {
  book_.Watch(one_, m1_);
  book_.Found(Checkpoint(one_), Mark(1));
  book_.Gone(Checkpoint(one_));
  EXPECT_FALSE(book_.Next(At(1s)));
}

TEST_F(CheckpointTrackerTest, NumbersGoOnAfterARestartOfTheDaemon) {
  book_.Watch(one_, m1_);
  book_.Found(Checkpoint(one_), Mark(1));
  const auto before = SaveNext(At(100s));
  CheckpointTracker restarted;
  restarted.Meet(m1_, true);
  restarted.Watch(one_, m1_);
  restarted.Found(Checkpoint(one_), Mark(1));
  const auto after = restarted.Next(At(101s));
  ASSERT_TRUE(before && after);
  EXPECT_GT(after->seq, before->seq);
}

}  // namespace
}  // namespace carillon::executor::checkpoint_tracker_test
