#include "scheduler/settings/settings_follower.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "tests/support/manual_clock.h"
#include "tests/twins/memory_stores.h"

namespace carillon::scheduler {
namespace {

const std::map<std::string, std::string> kDebug = {{"log.level", "debug"}};
const std::map<std::string, std::string> kWarn = {{"log.level", "warn"}};

// The part of a member that concerns its settings.
struct Member {
  Member(memory::MemoryEnsemble& ensemble, SettingsStore& store, const std::string& name)
      : incarnation("i-" + name),
        coordinator(ensemble.NewClient()),
        follower(
            {.coordinator = *coordinator, .store = store, .settings = settings, .metrics = metrics},
            [this] { return coordinator->IsLeader(); }) {
    EXPECT_TRUE(coordinator->Join({.id = MemberId(name), .incarnation = incarnation}).ok());
  }

  const Incarnation incarnation;
  std::unique_ptr<Coordinator> coordinator;
  LiveSettings settings;
  Metrics metrics;
  SettingsFollower follower;
};

class SettingsFollowerTest : public ::testing::Test {
 protected:
  void Run(Duration time) {
    for (Duration passed{}; passed < time; passed += 100ms) {
      clock_.Advance(100ms);
      for (Member* member : {&leader_, &other_}) member->follower.Step(clock_.Steady());
    }
  }
  // Changes the settings in the store as the API does. The member may die before it does more.
  ClusterSettings Store(int64_t expected, const std::map<std::string, std::string>& values) {
    auto written =
        stores_.settings.WriteSettings(expected, {.version = expected + 1, .values = values});
    EXPECT_TRUE(written.ok());
    return written.value_or({});
  }

  test::ManualClock clock_;
  memory::MemoryStores stores_{clock_, {}};
  memory::MemoryEnsemble ensemble_;
  Member leader_{ensemble_, stores_.settings, "a"};
  Member other_{ensemble_, stores_.settings, "b"};
};

TEST_F(SettingsFollowerTest, ChangeOfOneMemberReachesTheOthers) {
  Run(1s);
  other_.settings.Adopt(Store(0, kDebug));
  Run(1s);
  EXPECT_EQ(leader_.settings.Current().values, kDebug);
  EXPECT_EQ(leader_.metrics.gauge("carillon_config_version").value(), 1);
  leader_.settings.Adopt(Store(1, {}));
  Run(1s);
  EXPECT_EQ(other_.settings.Current(), (ClusterSettings{.version = 2}));
}

TEST_F(SettingsFollowerTest, LeaderFindsWhatAMemberCouldNotTellAnyMore) {
  Run(1s);
  Store(0, kDebug);
  Run(SettingsFollower::kAskStoreEvery + 1s);
  EXPECT_EQ(leader_.settings.version(), 1);
  EXPECT_EQ(other_.settings.Current().values, kDebug);
}

TEST_F(SettingsFollowerTest, WithoutContactAMemberGoesOnWithWhatItHasAndTellsItsChangeAfterwards) {
  leader_.settings.Adopt(Store(0, kDebug));
  Run(1s);
  ensemble_.Suspend(other_.incarnation);
  other_.settings.Adopt(Store(1, kWarn));
  Run(1s);
  EXPECT_EQ(other_.settings.version(), 2);
  EXPECT_EQ(leader_.coordinator->ReadSettings()->version, 1);
  ensemble_.Restore(other_.incarnation);
  Run(1s);
  EXPECT_EQ(leader_.settings.Current().values, kWarn);
}

TEST_F(SettingsFollowerTest, EachMemberTellsWhenThePauseIsInForceThere) {
  const auto told = [this] {
    std::vector<std::optional<bool>> all;
    for (const MemberInfo& member : leader_.coordinator->Members()) all.push_back(member.paused);
    return all;
  };
  using Told = std::vector<std::optional<bool>>;
  EXPECT_EQ(told(), (Told{std::nullopt, std::nullopt}));
  Run(1s);
  EXPECT_EQ(told(), (Told{false, false}));
  ensemble_.Suspend(other_.incarnation);
  std::map<std::string, std::string> paused;
  SetPause(paused, ClusterPause{.since = "2026-03-01T00:00:00Z", .by = "anna", .reason = "a move"});
  leader_.settings.Adopt(Store(0, paused));
  Run(1s);
  EXPECT_EQ(told(), (Told{true, false})) << "the other has not heard of it";
  ensemble_.Restore(other_.incarnation);
  Run(1s);
  EXPECT_EQ(told(), (Told{true, true}));
  ASSERT_TRUE(
      other_.coordinator->Join({.id = MemberId("b"), .incarnation = other_.incarnation}).ok());
  EXPECT_EQ(told(), (Told{true, std::nullopt}));
  Run(1s);
  EXPECT_EQ(told(), (Told{true, true})) << "told again after joining anew";
}

TEST_F(SettingsFollowerTest, MemberThatJoinsTakesTheCopy) {
  leader_.settings.Adopt(Store(0, kDebug));
  Run(1s);
  Member late(ensemble_, stores_.settings, "c");
  late.follower.Step(clock_.Steady());
  EXPECT_EQ(late.settings.Current().values, kDebug);
}

}  // namespace
}  // namespace carillon::scheduler
