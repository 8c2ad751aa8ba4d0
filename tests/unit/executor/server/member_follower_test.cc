#include "executor/server/member_follower.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_directory.h"
#include "tests/support/manual_clock.h"

namespace carillon::executor {
namespace {

class MemberFollowerTest : public ::testing::Test {
 protected:
  MemberFollower Make(MemberDirectory& directory, const std::string& incarnation) {
    return MemberFollower(
        directory, [this](const std::vector<MemberInfo>& members) { told_.push_back(members); },
        {.executor = ExecutorId("host"),
         .incarnation = Incarnation(incarnation),
         .refused_after = 12s});
  }
  // Steps until `time` has passed, each time at the requested wake-up.
  void StepFor(MemberFollower& follower, Duration time) {
    const SteadyTime end = clock_.Steady() + time;
    while (clock_.Steady() < end) {
      const SteadyTime next = follower.Step(clock_.Steady());
      ASSERT_GT(next, clock_.Steady()) << "a busy loop";
      clock_.Advance(next - clock_.Steady());
    }
  }
  static MemberInfo Info(const std::string& name) {
    return {MemberId(name), Incarnation("inc-" + name), "http://" + name, name + ":1"};
  }

  test::ManualClock clock_;
  memory::MemoryEnsemble ensemble_;
  std::vector<std::vector<MemberInfo>> told_;
};

TEST_F(MemberFollowerTest, TellsTheLinkWhoIsThere) {
  const auto directory = memory::NewDirectory(ensemble_);
  MemberFollower follower = Make(*directory, "i1");
  StepFor(follower, 2s);
  EXPECT_TRUE(told_.empty());
  const auto member = ensemble_.NewClient();
  ASSERT_TRUE(member->Join(Info("m1")).ok());
  StepFor(follower, 3s);
  ASSERT_EQ(told_.size(), 1u) << "told once";
  EXPECT_EQ(told_[0], std::vector<MemberInfo>{Info("m1")});
  member->Leave();
  StepFor(follower, 3s);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_TRUE(told_[1].empty());
  EXPECT_TRUE(follower.refusal().empty());
}

TEST_F(MemberFollowerTest, SecondStartDialsNobodyAndIsRefusedAfterAWhile) {
  const auto member = ensemble_.NewClient();
  ASSERT_TRUE(member->Join(Info("m1")).ok());
  const auto first = memory::NewDirectory(ensemble_);
  ASSERT_TRUE(first->Announce(ExecutorId("host"), Incarnation("i1")).ok());
  const auto second = memory::NewDirectory(ensemble_);
  MemberFollower follower = Make(*second, "i2");
  StepFor(follower, 10s);
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(follower.refusal().empty());
  StepFor(follower, 4s);
  EXPECT_FALSE(follower.refusal().empty());
  EXPECT_TRUE(told_.empty());
}

TEST_F(MemberFollowerTest, StartAfterADeadOneGoesOnWhenItsNodeIsGone) {
  const auto member = ensemble_.NewClient();
  ASSERT_TRUE(member->Join(Info("m1")).ok());
  const auto first = memory::NewDirectory(ensemble_);
  ASSERT_TRUE(first->Announce(ExecutorId("host"), Incarnation("i1")).ok());
  const auto second = memory::NewDirectory(ensemble_);
  MemberFollower follower = Make(*second, "i2");
  StepFor(follower, 5s);
  ensemble_.Expire(Incarnation("i1"));
  StepFor(follower, 2s);
  EXPECT_EQ(told_.size(), 1u);
  StepFor(follower, 20s);
  EXPECT_TRUE(follower.refusal().empty());
}

TEST_F(MemberFollowerTest, ShowsItselfAgainAfterItsSessionEnded) {
  const auto directory = memory::NewDirectory(ensemble_);
  MemberFollower follower = Make(*directory, "i1");
  StepFor(follower, 1s);
  ensemble_.Expire(Incarnation("i1"));
  EXPECT_EQ(directory->State(), SessionState::kExpired);
  StepFor(follower, 2s);
  EXPECT_EQ(directory->State(), SessionState::kConnected);
}

}  // namespace
}  // namespace carillon::executor
