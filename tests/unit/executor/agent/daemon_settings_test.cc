// Live settings of an executor: the messages with new settings, and their effect on starts.
#include <set>

#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonSettingsTest : public DaemonFixture {
 protected:
  static Registered Told(int64_t version, const std::string& slots = "1") {
    return {.settings = {.version = version, .values = {{"executor.slots", slots}}}};
  }
  std::vector<Heartbeat> Beats() { return link_.Take<Heartbeat>(); }
};

TEST_F(DaemonSettingsTest, HighestVersionHoldsWhoeverToldIt) {
  link_.members = {MemberId("m1"), MemberId("m2")};
  Join();
  Deliver(Told(5, "3"), "m1");
  Deliver(Told(4, "9"), "m2");  // from a member with older settings
  EXPECT_EQ(settings_->Current(), Told(5, "3").settings);
  Beats();
  Deliver(Told(6, "4"), "m2");
  EXPECT_EQ(settings_->version(), 6);
  const auto beats = Beats();
  ASSERT_FALSE(beats.empty()) << "told at once what is in force";
  EXPECT_EQ(beats.back().config_version, 6);
  link_.members.clear();
  StepFor(1s);
  EXPECT_EQ(settings_->version(), 6) << "kept while no member is there";
}

TEST_F(DaemonSettingsTest, RefusalChangesNothing) {
  Step();
  Deliver(Registered{.accepted = false, .refusal = "another is alive"});
  EXPECT_EQ(settings_->version(), 0);
}

TEST_F(DaemonSettingsTest, FewerSlotsKillNothingAndStartLess) {
  Boot(2);
  Join();
  const ClaimRequest one = RunToAccepted(Task(1));
  const ClaimRequest two = RunToAccepted(Task(2));
  daemon_->Tune({.slots = 1});
  Publish({Task(3)});
  StepFor(2s);
  EXPECT_TRUE(Claims().empty());
  EXPECT_EQ(daemon_->status().running, 2);
  EXPECT_TRUE(warden_.cancelled.empty());
  const auto beats = Beats();
  ASSERT_FALSE(beats.empty());
  EXPECT_EQ(beats.back().slots, 1);
  EXPECT_EQ(beats.back().free_slots, 0);
  EndInWarden(one);
  EXPECT_TRUE(Claims().empty()) << "one runs, one may";
  EndInWarden(two);
  EXPECT_EQ(Claims().size(), 1u);
}

TEST_F(DaemonSettingsTest, ProcessesStartNoFasterThanTheRate) {
  Boot(50);
  Join();
  daemon_->Tune({.slots = 50, .starts_per_second = 20});
  StepFor(3s);
  const auto beats = Beats();
  ASSERT_FALSE(beats.empty());
  EXPECT_EQ(beats.back().free_slots, 20) << "more tasks would only wait here";
  std::vector<TaskMessage> tasks;
  for (uint64_t number = 1; number <= 30; ++number) tasks.push_back(Task(number));
  Publish(tasks);
  std::set<ClaimToken> tokens;  // claims without an answer are repeated
  const auto claimed = [&] {
    for (const ClaimRequest& claim : Claims()) tokens.insert(claim.token);
    return tokens.size();
  };
  EXPECT_EQ(claimed(), 3u) << "a tenth of a second at once";
  StepFor(500ms);
  EXPECT_NEAR(static_cast<double>(claimed()), 13, 1);
  StepFor(2s);
  EXPECT_EQ(claimed(), 30u);
  daemon_->Tune({.slots = 50});
  tasks.clear();
  for (uint64_t number = 31; number <= 45; ++number) tasks.push_back(Task(number));
  Publish(tasks);
  EXPECT_EQ(claimed(), 45u);
}

TEST_F(DaemonSettingsTest, MoreSlotsAreUsedWithoutARestart) {
  Boot(1);
  Join();
  Publish({Task(1), Task(2), Task(3)});
  EXPECT_EQ(Claims().size(), 1u);
  daemon_->Tune({.slots = 3});
  StepFor(200ms);
  EXPECT_EQ(Claims().size(), 2u);
}

TEST_F(DaemonSettingsTest, OutputLimitIsOfTheNextStart) {
  Join();
  RunToAccepted(Task(1));
  daemon_->Tune({.slots = 2, .output_bytes_max = 2048});
  RunToAccepted(Task(2));
  ASSERT_EQ(warden_.starts.size(), 2u);
  EXPECT_EQ(warden_.starts[0].output_bytes_max, 65'536u);
  EXPECT_EQ(warden_.starts[1].output_bytes_max, 2048u);
}

TEST_F(DaemonSettingsTest, FormatIsOfTheNextResults) {
  Join();
  daemon_->Tune({.slots = 2, .bus_format = BusFormat::kJson});
  EndInWarden(RunToAccepted(Task(1)));
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(bus_.last_payload.front(), '{');
  daemon_->Tune({.slots = 2, .bus_format = BusFormat::kBinary});
  EndInWarden(RunToAccepted(Task(2)));
  ASSERT_EQ(bus_.results.size(), 2u);
  EXPECT_NE(bus_.last_payload.front(), '{');
}

}  // namespace
}  // namespace carillon::executor
