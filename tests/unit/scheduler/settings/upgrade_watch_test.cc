#include "scheduler/settings/upgrade_watch.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

constexpr int kNewest = 3;

// The store of the tests, which can be made unreachable.
class ReachableSchema final : public SchemaStore {
 public:
  explicit ReachableSchema(SchemaStore& store) : store_(store) {}
  Result<SchemaLevels> ReadLevels() override {
    if (away) return {ErrorCode::kUnavailable, "the store is away"};
    return store_.ReadLevels();
  }
  Result<std::unique_ptr<SchemaHold>> Hold() override {
    if (away) return {ErrorCode::kUnavailable, "the store is away"};
    return store_.Hold();
  }
  bool away = false;

 private:
  SchemaStore& store_;
};

// A cluster whose store has migrations that the release before did not know.
class UpgradeWatchTest : public ::testing::Test {
 protected:
  UpgradeWatchTest() { SetLevels({.known = kNewest, .applied = kNewest, .finished = 2}); }

  std::unique_ptr<Coordinator> Join(const std::string& id, int schema) {
    auto member = ensemble_.NewClient();
    EXPECT_TRUE(
        member->Join({.id = MemberId(id), .incarnation = Incarnation("i-" + id), .schema = schema})
            .ok());
    return member;
  }
  void Run(Duration time) { Run(watch_, time); }
  void Run(UpgradeWatch& watch, Duration time) {
    for (Duration passed{}; passed < time; passed += UpgradeWatch::kStepEvery) {
      clock_.Advance(UpgradeWatch::kStepEvery);
      watch.Step(clock_.Steady());
    }
  }
  void SetLevels(const SchemaLevels& levels) {
    MutexLock lock(stores_.tables.mu);
    stores_.tables.schema = levels;
  }
  int Finished() { return stores_.schema.ReadLevels()->finished; }

  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {}};
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> self_ = Join("a", kNewest);
  ReachableSchema schema_{stores_.schema};
  UpgradeWatch watch_{{.coordinator = *self_, .store = schema_}};
};

TEST_F(UpgradeWatchTest, OnlyTheFirstReleaseIsOnBeforeTheStoreAnswers) {
  schema_.away = true;
  Run(10s);
  EXPECT_TRUE(watch_.FeatureOn(kFirstSchema));
  EXPECT_FALSE(watch_.FeatureOn(2));
  schema_.away = false;
  Run(UpgradeWatch::kLookEvery);
  EXPECT_TRUE(watch_.FeatureOn(2));
  EXPECT_FALSE(watch_.FeatureOn(kNewest));
}

TEST_F(UpgradeWatchTest, KnownLevelStaysWithoutTheStore) {
  Run(1s);
  schema_.away = true;
  Run(1min);
  EXPECT_TRUE(watch_.FeatureOn(2));
  watch_.RequestFinish();
  Run(1s);
  EXPECT_EQ(watch_.State().problem, "the store is away");
  EXPECT_TRUE(watch_.FeatureOn(2));
  EXPECT_FALSE(watch_.FeatureOn(kNewest));
}

TEST_F(UpgradeWatchTest, FinishesWhenAllMembersKnowTheNewestMigrationTwice) {
  const auto other = Join("b", kNewest);
  watch_.RequestFinish();
  Run(UpgradeWatch::kSecondLook);
  EXPECT_TRUE(watch_.State().finishing);
  EXPECT_EQ(Finished(), 2);
  EXPECT_EQ(stores_.schema.Hold().code(), ErrorCode::kUnavailable) << "a member could start";
  Run(1s);
  EXPECT_FALSE(watch_.State().finishing);
  EXPECT_EQ(watch_.State().problem, "");
  EXPECT_EQ(Finished(), kNewest);
  EXPECT_TRUE(watch_.FeatureOn(kNewest));
  EXPECT_TRUE(stores_.schema.Hold().ok());
}

TEST_F(UpgradeWatchTest, MemberOfThePreviousVersionStopsIt) {
  auto other = Join("b", 2);
  watch_.RequestFinish();
  Run(1s);
  EXPECT_FALSE(watch_.State().finishing);
  EXPECT_NE(watch_.State().problem.find("member b knows schema 2"), std::string::npos)
      << watch_.State().problem;
  EXPECT_TRUE(stores_.schema.Hold().ok()) << "a member could not start any more";
  other->Leave();
  other = Join("b", kNewest);
  watch_.RequestFinish();
  Run(UpgradeWatch::kSecondLook + 1s);
  EXPECT_EQ(watch_.State().problem, "");
  EXPECT_EQ(Finished(), kNewest);
}

TEST_F(UpgradeWatchTest, MemberThatIsSeenOnlyAtTheSecondLookStopsIt) {
  watch_.RequestFinish();
  Run(UpgradeWatch::kSecondLook - 1s);
  const auto other = Join("b", 0);  // it announces no schema
  Run(2s);
  EXPECT_FALSE(watch_.State().finishing);
  EXPECT_NE(watch_.State().problem, "");
  EXPECT_EQ(Finished(), 2);
}

TEST_F(UpgradeWatchTest, MemberThatIsKilledBeforeTheWriteLeavesAllToARepetition) {
  auto killed =
      std::make_unique<UpgradeWatch>(UpgradeWatch::Ports{.coordinator = *self_, .store = schema_});
  killed->RequestFinish();
  Run(*killed, UpgradeWatch::kSecondLook - 1s);
  watch_.RequestFinish();
  Run(1s);
  EXPECT_NE(watch_.State().problem, "") << "two members finish";
  killed.reset();
  EXPECT_EQ(Finished(), 2);
  watch_.RequestFinish();
  Run(UpgradeWatch::kSecondLook + 1s);
  EXPECT_EQ(watch_.State().problem, "");
  EXPECT_EQ(Finished(), kNewest);
}

TEST_F(UpgradeWatchTest, WithoutTheListOfMembersNothingIsFinished) {
  watch_.RequestFinish();
  Run(1s);
  ensemble_.Suspend(Incarnation("i-a"));
  Run(UpgradeWatch::kSecondLook + 1s);
  EXPECT_EQ(watch_.State().problem, "the list of members is unavailable");
  EXPECT_EQ(Finished(), 2);
}

TEST_F(UpgradeWatchTest, ProgramEndsOnceAnUpgradeThatItDoesNotKnowIsFinished) {
  SetLevels({.known = 2, .applied = kNewest, .finished = 2});
  Run(1s);
  EXPECT_TRUE(watch_.CheckProgram().ok()) << "the newer members let it go on";
  SetLevels({.known = 2, .applied = kNewest, .finished = kNewest});
  Run(UpgradeWatch::kLookEvery);
  EXPECT_EQ(watch_.CheckProgram().code(), ErrorCode::kConflict);
}

TEST_F(UpgradeWatchTest, LevelThatAnotherMemberRaisesIsSeen) {
  Run(1s);
  ASSERT_TRUE((*stores_.schema.Hold())->Finish().ok());
  Run(UpgradeWatch::kLookEvery);
  EXPECT_TRUE(watch_.FeatureOn(kNewest));
}

}  // namespace
}  // namespace carillon::scheduler
