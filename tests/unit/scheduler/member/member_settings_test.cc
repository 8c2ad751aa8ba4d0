// Live settings: their effect on a member, and how executors receive them.
#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

class MemberSettingsTest : public MemberTest {
 protected:
  // Steps everything, including the answers on the link.
  void Turn() { Run(40ms, 20ms); }
  void RegisterAndBeat(TestExecutor& executor, int64_t config_version = 0) {
    executor.Register();
    Turn();
    Beat(executor, config_version);
  }
  void Beat(TestExecutor& executor, int64_t config_version, int slots = 4) {
    executor.BeatAbout(slots, {.slots = slots, .config_version = config_version});
    Turn();
  }
  static ClusterSettings Settings(int64_t version) {
    return {.version = version, .values = {{"executor.slots", std::to_string(version)}}};
  }
};

TEST_F(MemberSettingsTest, ExecutorIsToldAtItsRegistrationAndOfEachChange) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  member.settings().Adopt(Settings(3));
  executor.Register();
  Turn();
  const auto answer = executor.TakeAll<Registered>();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].settings, Settings(3));
  member.settings().Adopt(Settings(4));
  Turn();
  const auto change = executor.TakeAll<Registered>();
  ASSERT_EQ(change.size(), 1u);
  EXPECT_TRUE(change[0].accepted);
  EXPECT_EQ(change[0].settings, Settings(4));
}

TEST_F(MemberSettingsTest, LostMessageIsSentAgainUntilAHeartbeatShowsTheVersion) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  RegisterAndBeat(executor);
  member.settings().Adopt(Settings(1));
  Turn();
  executor.TakeAll<Registered>();  // plays a lost message
  Beat(executor, 0);
  ASSERT_EQ(executor.TakeAll<Registered>().size(), 1u);
  Beat(executor, 1, 2);
  EXPECT_TRUE(executor.TakeAll<Registered>().empty());
  const auto shown = member.member().GetStatus().executors;
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].config_version, 1);
  EXPECT_EQ(shown[0].slots, 2);
}

// Such an executor would report the same version for ever.
TEST_F(MemberSettingsTest, ExecutorThatKnowsNoSettingsIsToldOnceOnly) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Turn();
  member.settings().Adopt(Settings(1));
  Turn();
  executor.TakeAll<Registered>();
  executor.Beat(4);
  Turn();
  EXPECT_TRUE(executor.TakeAll<Registered>().empty());
  EXPECT_EQ(member.member().GetStatus().executors.at(0).slots, 4) << "as registered";
}

TEST_F(MemberSettingsTest, DrainIsToldAtOnce) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  TestExecutor other(world_, "x2");
  Start(member);
  RegisterAndBeat(executor);
  RegisterAndBeat(other);
  executor.TakeAll<Registered>();
  other.TakeAll<Registered>();
  ASSERT_TRUE(world_.stores.executors.SetExecutorDraining(ExecutorId("x1"), true).ok());
  member.member().NudgeExecutors();
  Turn();
  const auto told = executor.TakeAll<Registered>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].draining);
  EXPECT_TRUE(told[0].enabled);
  EXPECT_TRUE(other.TakeAll<Registered>().empty());
  // The change was made over the API of another member, so the next read of the store shows it.
  ASSERT_TRUE(world_.stores.executors.SetExecutorDraining(ExecutorId("x1"), false).ok());
  Run(2200ms, 20ms);
  const auto back = executor.TakeAll<Registered>();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_FALSE(back[0].draining);
}

TEST_F(MemberSettingsTest, HorizonAndFormatAreOfTheNextFires) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  RegisterAndBeat(executor);
  JobDefinition job = NoopEverySecond(world_.now() + 1s);
  world_.CreateJob("tick", job);
  scheduler::MemberTuning tuning{.horizon = 4s};
  member.member().Tune(tuning);
  std::vector<SegmentId> segments;
  for (uint32_t n = 0; n < 8; ++n) segments.push_back(SegmentId(n));
  const auto planned = [&] {
    return world_.stores.firing.ScanPending(segments, world_.now() + 24h, {}, 1000)->runs.size();
  };
  Run(600ms, 20ms);
  EXPECT_GE(planned(), 1u);
  EXPECT_LE(planned(), 4u);
  tuning.horizon = 100s;
  tuning.bus_format = BusFormat::kJson;
  member.member().Tune(tuning);
  Run(600ms, 20ms);
  EXPECT_GE(planned(), 50u);
  // Readers accept both formats, so the test looks at the bytes.
  const auto reader = world_.bus.NewConsumer(kTasksTopic, "reader");
  Run(2s, 20ms);
  const auto records = reader->Poll(100);
  ASSERT_TRUE(records.ok());
  ASSERT_FALSE(records->empty());
  EXPECT_EQ(records->back().record.payload.front(), '{');
}

TEST_F(MemberSettingsTest, DispatchTimeoutIsOfWhatIsUnderWayToo) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  RegisterAndBeat(executor);
  JobDefinition job;
  job.type = JobType::kNoop;
  world_.CreateJob("once", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("once")}, {.now = world_.now()});
  ASSERT_TRUE(run.ok());
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(100ms, 20ms);
  ASSERT_EQ(executor.TakeTasks().size(), 1u);
  member.member().Tune({.dispatch_timeout = 300ms});
  Run(1500ms, 20ms);
  EXPECT_GE(member.metrics().counter("carillon_dispatch_timeouts_total").value(), 1u);
}

// The member has read the pause from the store, as a daemon does before its loops start.
TEST_F(MemberSettingsTest, MemberThatStartsInAPauseFiresNothingUntilTheResume) {
  JobDefinition job = NoopEverySecond(world_.now() + 1s);
  world_.CreateJob("tick", job);
  ClusterSettings settings{.version = 1};
  SetPause(settings.values, ClusterPause{.since = "s", .by = "anna", .reason = "a move"});
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  member.settings().Adopt(settings);
  Start(member);
  RegisterAndBeat(executor);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("tick")}, {.now = world_.now()});
  ASSERT_TRUE(run.ok());
  Run(3s, 20ms);
  EXPECT_TRUE(executor.TakeTasks().empty());
  EXPECT_EQ(member.metrics().counter("carillon_fires_total", "rate").value(), 0u);
  EXPECT_TRUE(member.member().ready());
  EXPECT_EQ(member.metrics().gauge("carillon_paused").value(), 1);
  SetPause(settings.values, std::nullopt);
  settings.version = 2;
  member.settings().Adopt(settings);
  executor.Beat(4);
  Run(1500ms, 20ms);
  EXPECT_GE(executor.TakeTasks().size(), 3u) << "the run by hand, and the fires of the pause";
  EXPECT_GE(member.metrics().counter("carillon_fires_total", "rate").value(), 3u);
  EXPECT_EQ(member.metrics().gauge("carillon_paused").value(), 0);
}

}  // namespace
}  // namespace carillon::test
