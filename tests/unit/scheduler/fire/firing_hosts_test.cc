// The firing loop, with parts that are bound to hosts.
#include "tests/unit/scheduler/fire/firing_parts_fixture.h"

namespace carillon::scheduler {
namespace {

TEST_F(FiringPartsTest, APartWaitsForItsHostAndIsSkipped) {
  DownSince(clock_.Steady(), "x2");
  const StoredJob job = Shell("a", OnAllHosts(5));
  BeatWithShards("x1");
  const PendingRun there = Part(job, 1, "x1");
  const PendingRun down = Part(job, 2, "x2");
  const PendingRun unknown = Part(job, 3, "x3");  // the list may be old
  Feed({there, down, unknown});
  Step(10ms);
  ASSERT_EQ(Tasks().size(), 1u);
  for (int i = 0; i < 49; ++i) Step(100ms);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 5; ++i) Step(100ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, down.key);
  EXPECT_EQ(skips[0].reason, reason::kHostDown);
}

// A restart of the host must not cost it what waited for the work before it.
TEST_F(FiringPartsTest, APartThatHasWaitedForABusyHostWaitsForItsRestart) {
  const StoredJob job = Shell("a", OnAllHosts(5));
  Beat("x1", 0);
  const PendingRun part = Part(job, 1, "x1");
  Feed({part});
  for (int i = 0; i < 100; ++i) Step(1s);
  DownSince(clock_.Steady(), "x1");
  for (int i = 0; i < 4; ++i) Step(1s);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 3; ++i) Step(1s);
  ASSERT_EQ(Skips().size(), 1u);
}

// The member that saw the host go may have been replaced since.
TEST_F(FiringPartsTest, ALongWaitEndsWhenTheHostHasBeenAwayForSomeMinutes) {
  const StoredJob job = Shell("a", OnAllHosts(86'400));
  Feed({Part(job, 2, "x2")});
  Beat("x2", 0);
  for (int i = 0; i < 24; ++i) Step(1h);
  DownSince(clock_.Steady(), "x2");
  for (int i = 0; i < 9; ++i) Step(1min);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 2; ++i) Step(1min);
  EXPECT_EQ(Skips().size(), 1u);
}

TEST_F(FiringPartsTest, APartIsNotSentToItsHostButSkippedOnceThatMatchesNoMore) {
  JobDefinition definition = OnAllHosts(60);
  definition.executor_selector = "zone=a";
  const StoredJob job = Shell("a", definition);
  for (const char* zone : {"a", "b"}) {
    const std::string id = std::string("in-") + zone;
    Beat(id, 4, 100, {{"zone", zone}});
    BeatWithShards(id);
  }
  const PendingRun matches = Part(job, 1, "in-a");
  const PendingRun left = Part(job, 2, "in-b");
  Feed({matches, left});
  Step(10ms);
  EXPECT_EQ(Tasks("in-a").size(), 1u);
  Tell(RunEvent::What::kClaimed, matches.key, 1, "in-a");
  for (int i = 0; i < 5; ++i) Step(100ms);
  EXPECT_TRUE(Tasks("in-b").empty());
  EXPECT_TRUE(Skips().empty()) << "its labels may be older than the job";
  hosts_read_ = clock_.Steady();
  for (int i = 0; i < 2; ++i) Step(100ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, left.key);
  EXPECT_EQ(skips[0].reason, reason::kNoExecutor);
  EXPECT_EQ(skips[0].error, "executor in-b does not match the job any more");
}

TEST_F(FiringPartsTest, APartOfAJobThatHasGotAnotherExecutorIsSkipped) {
  JobDefinition definition;
  definition.executor_id = "x2";
  const StoredJob job = Shell("a", definition);
  BeatWithShards("x1");
  BeatWithShards("x2");
  const PendingRun left = Part(job, 1, "x1");
  const PendingRun stays = Part(job, 2, "x2");
  Feed({left, stays});
  Step(10ms);
  EXPECT_TRUE(Tasks("x1").empty());
  EXPECT_EQ(Tasks("x2").size(), 1u);
  Step(10ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, left.key);
  EXPECT_EQ(skips[0].reason, reason::kNoExecutor);
}

TEST_F(FiringPartsTest, AnEditedJobHasTheUsualWait) {
  DownSince(clock_.Steady(), "x2");
  const StoredJob job = Shell("a");
  Feed({Part(job, 2, "x2")});
  for (int i = 0; i < 59; ++i) Step(1s);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 3; ++i) Step(1s);
  EXPECT_EQ(Skips().size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
