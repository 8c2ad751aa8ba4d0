// Overload: when a level is in force, and which runs it takes.
#include "scheduler/fire/load_shedding.h"

#include <map>
#include <set>

#include "scheduler/fire/firing_plan.h"
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

constexpr SteadyTime kBegin{Duration(1'000'000'000)};

class OverloadMeterTest : public ::testing::Test {
 protected:
  OverloadMeterTest() { meter_.SetLevels({{10s, 20}, {60s, 60}}); }
  // Observes the wait every 100 ms for so long. Returns the number of the level after that.
  size_t For(Duration time, Duration wait) {
    for (const SteadyTime end = now_ + time; now_ < end;) {
      now_ += 100ms;
      meter_.Observe(wait, now_);
    }
    return meter_.number();
  }

  OverloadMeter meter_;
  SteadyTime now_ = kBegin;
};

TEST_F(OverloadMeterTest, ALevelIsEnteredAfterFiveSecondsAbove) {
  EXPECT_EQ(For(60s, 10s), 0u);
  EXPECT_EQ(For(5s, 11s), 0u);
  EXPECT_EQ(For(200ms, 11s), 1u);
  EXPECT_EQ(meter_.level()->below, 20);
  EXPECT_EQ(For(5s, 61s), 1u);
  EXPECT_EQ(For(200ms, 61s), 2u);
  EXPECT_EQ(meter_.level()->below, 60);
}

TEST_F(OverloadMeterTest, OneMomentOfLessWaitBeginsAnew) {
  EXPECT_EQ(For(4s, 11s), 0u);
  EXPECT_EQ(For(100ms, 9s), 0u);
  EXPECT_EQ(For(4900ms, 11s), 0u);
  EXPECT_EQ(For(200ms, 11s), 1u);
}

TEST_F(OverloadMeterTest, ItEndsOnceNothingWaitsForHalfAMinute) {
  ASSERT_EQ(For(6s, 70s), 2u);
  EXPECT_EQ(For(300s, 2s), 2u);
  EXPECT_EQ(For(29s, 1s), 2u);
  EXPECT_EQ(For(100ms, 2s), 2u);
  EXPECT_EQ(For(30s, 1s), 2u);
  EXPECT_EQ(For(200ms, Duration{}), 0u);
  EXPECT_EQ(meter_.level(), nullptr);
}

TEST_F(OverloadMeterTest, OtherLevelsBeginAnew) {
  ASSERT_EQ(For(6s, 70s), 2u);
  meter_.SetLevels({{10s, 5}});
  EXPECT_EQ(meter_.number(), 0u);
  EXPECT_EQ(For(6s, 70s), 1u);
  meter_.SetLevels({});
  EXPECT_FALSE(meter_.on());
  EXPECT_EQ(For(60s, 70s), 0u);
}

class LoadSheddingTest : public FiringLoopTest {
 protected:
  LoadSheddingTest() { loop_->SetOverload({{10s, 20}}); }

  StoredJob Every(const std::string& id, Duration every, JobDefinition job = {}) {
    job.misfire_policy = MisfirePolicy::kAll;
    job.misfire_grace_s = 86'400;
    job.schedules = {{.kind = ScheduleKind::kRate, .every = every, .start = clock_.Wall()}};
    return Shell(id, job);
  }
  PendingRun FireOf(const StoredJob& job, int priority = 0) {
    PendingRun run = Pending(job, 1ms, priority);
    run.key.schedule_id = job.schedules.at(0).schedule_id;
    run.kind = RunKind::kRate;
    return run;
  }
  // Steps for so long, with the executor busy; collects what is skipped.
  void Pass(Duration time, int free_slots = 0) {
    for (Duration passed{}; passed < time; passed += 100ms) {
      Beat("x1", free_slots);
      SampleClock();
      Step(100ms);
      for (const SkipRequest& skip : Skips()) {
        skipped_[skip.key] = std::string(skip.reason);
        if (written_) loop_->NoteSkipped(skip);
      }
    }
  }
  // A storm: a run of high priority waits for the only executor.
  void MakeStorm() {
    Beat("x1", 0);
    blocked_ = Pending(Shell("blocked"), 1ms, 100);
    Feed({blocked_});
    Pass(16s);
    ASSERT_FALSE(loop_->storm().over);
  }

  bool written_ = true;  // the skip writer writes what is skipped
  PendingRun blocked_;
  std::map<RunKey, std::string> skipped_;
};

TEST_F(LoadSheddingTest, OffItDoesNothing) {
  loop_->SetOverload({});
  Beat("x1", 0);
  const StoredJob job = Every("minutely", 60s);
  Feed({FireOf(job), Pending(Shell("blocked"), 1ms, 100)});
  Pass(60s);
  EXPECT_TRUE(skipped_.empty());
  EXPECT_EQ(loop_->storm().number, 0u);
}

TEST_F(LoadSheddingTest, AFireOfLowPriorityIsShedAfterItHasWaited) {
  MakeStorm();
  const PendingRun low = FireOf(Every("low", 60s), 19);
  const PendingRun high = FireOf(Every("high", 60s), 20);
  Feed({low, high});
  Pass(1900ms);
  EXPECT_TRUE(skipped_.empty());
  Pass(300ms);
  EXPECT_EQ(skipped_, (std::map<RunKey, std::string>{{low.key, "shed"}}));
  Pass(20s);
  EXPECT_EQ(skipped_.size(), 1u);
  const Storm storm = loop_->storm();
  EXPECT_EQ(storm.number, 1u);
  EXPECT_EQ(storm.what.shed, 1);
  EXPECT_EQ(storm.newest->key, low.key);
  EXPECT_EQ(metrics_.counter("carillon_runs_shed_total", "10-19").value(), 1);
}

TEST_F(LoadSheddingTest, AFireInShardsIsNotShed) {
  const FiringFacts storm{.now = clock_.Wall() + 3s, .shed_below = 20, .shed_after = 2s};
  for (const bool in_shards : {false, true}) {
    JobDefinition job;
    if (in_shards) job.shards = Shards{.total = 4};
    const StoredJob stored = Every(in_shards ? "shards" : "plain", 60s, job);
    const Definition definition({.job_no = stored.job_no,
                                 .version = stored.version,
                                 .job_id = stored.job_id,
                                 .definition = stored.definition,
                                 .schedule_ids = {stored.schedules.at(0).schedule_id}});
    EXPECT_EQ(DecideFiring(FireOf(stored), definition, storm), in_shards ? "" : reason::kShed);
  }
}

// It was edited, claimed or taken over by another member since.
TEST_F(LoadSheddingTest, AFireWhoseSkipIsNotWrittenDoesNotCount) {
  MakeStorm();
  written_ = false;
  Feed({FireOf(Every("low", 60s), 19)});
  Pass(2200ms);
  EXPECT_EQ(skipped_.size(), 1u);
  EXPECT_EQ(loop_->storm().what.shed, 0);
  EXPECT_FALSE(loop_->storm().newest);
  EXPECT_EQ(metrics_.counter("carillon_runs_shed_total", "10-19").value(), 0);
}

TEST_F(LoadSheddingTest, OtherSkipsAreNotOfTheStorm) {
  MakeStorm();
  SkipRequest other;
  other.key = blocked_.key;
  other.reason = reason::kMisfire;
  loop_->NoteSkipped(other);
  EXPECT_EQ(loop_->storm().what.shed, 0);
}

TEST_F(LoadSheddingTest, AFreeExecutorTakesWhatWouldBeShed) {
  MakeStorm();
  const PendingRun low = FireOf(Every("low", 60s));
  Feed({low});
  Pass(300ms, 4);
  EXPECT_EQ(Tasks().size(), 2u);
  EXPECT_FALSE(loop_->storm().over);
}

TEST_F(LoadSheddingTest, TheLevelEndsWhenLoadFalls) {
  MakeStorm();
  Pass(200ms, 4);
  Tell(RunEvent::What::kClaimed, blocked_.key);
  Pass(29s, 4);
  EXPECT_FALSE(loop_->storm().over);
  Pass(2s, 4);
  EXPECT_TRUE(loop_->storm().over);
  EXPECT_EQ(metrics_.gauge("carillon_overload_level").value(), 0);
}

TEST_F(LoadSheddingTest, ABusyExecutorShedsOnlyWhatWaitsForIt) {
  JobDefinition pinned;
  pinned.executor_id = "x1";
  Beat("x1", 0);
  Beat("x2", 4);
  const PendingRun blocked = Pending(Shell("blocked", pinned), 1ms, 100);
  Feed({blocked});
  Pass(16s);
  ASSERT_FALSE(loop_->storm().over);
  Beat("x2", 0);
  const PendingRun there = FireOf(Every("there", 60s, pinned));
  const PendingRun anywhere = FireOf(Every("anywhere", 60s));
  Feed({there, anywhere});
  Pass(9s);
  EXPECT_EQ(skipped_, (std::map<RunKey, std::string>{{there.key, "shed"}}));
  Pass(200ms, 4);
  Tell(RunEvent::What::kClaimed, blocked.key);
  Tell(RunEvent::What::kClaimed, anywhere.key);
  Pass(29s, 4);
  EXPECT_FALSE(loop_->storm().over);
  Pass(2s, 4);
  EXPECT_TRUE(loop_->storm().over) << "also if nothing waits for the executor any more";
}

TEST_F(LoadSheddingTest, AFireOfAWorkflowBeginsBecauseItWaitsForNoExecutor) {
  int begun = 0;
  begin_workflow_ = [&](const PendingRun&, const JobDefinition&) { ++begun; };
  JobDefinition flow;
  flow.type = JobType::kWorkflow;
  flow.workflow = WorkflowDefinition{.nodes = {{.id = "a", .job = Shell("node").job_id}}};
  flow.schedules = {{.kind = ScheduleKind::kRate, .every = 60s, .start = clock_.Wall()}};
  const StoredJob stored = CreateJob("flow", flow);
  Feed({FireOf(stored)});
  Pass(200ms);
  EXPECT_EQ(begun, 1);
  MakeStorm();
  const PendingRun low = FireOf(stored, 19);
  PendingRun after = FireOf(stored, 0);
  after.key.fire += 1ms;
  after.kind = RunKind::kAfter;
  Feed({low, after});
  Pass(200ms);
  EXPECT_TRUE(skipped_.empty());
  EXPECT_EQ(begun, 3);
}

TEST_F(LoadSheddingTest, ARunThatAnEventStartsIsNeitherShedNorTooLate) {
  JobDefinition job;
  job.misfire_policy = MisfirePolicy::kSkip;
  job.schedules = {{.kind = ScheduleKind::kEvent, .event_type = "order.paid"}};
  const StoredJob stored = Shell("by-event", job);
  const Definition definition({.job_no = stored.job_no,
                               .version = stored.version,
                               .job_id = stored.job_id,
                               .definition = stored.definition,
                               .schedule_ids = {stored.schedules.at(0).schedule_id}});
  PendingRun run = FireOf(stored);
  run.kind = RunKind::kEvent;
  EXPECT_EQ(DecideFiring(run, definition,
                         {.now = clock_.Wall() + 24h, .shed_below = 20, .shed_after = 2s}),
            "");
}

TEST_F(LoadSheddingTest, RunsWithoutAnExecutorAreNoOverload) {
  JobDefinition elsewhere;
  elsewhere.executor_id = "x9";
  JobDefinition labelled;
  labelled.executor_selector = "gpu=yes";
  Feed({Pending(Shell("pinned", elsewhere), 1ms, 100), Pending(Shell("gpu", labelled), 1ms, 100)});
  Pass(60s, 4);
  EXPECT_EQ(loop_->storm().number, 0u);
}

TEST_F(LoadSheddingTest, BackfilledRunsAreNoOverload) {
  PendingRun run = Pending(Shell("past"), 1ms);
  run.kind = RunKind::kBackfill;
  run.flags = run_flag::kBackground;
  Beat("x1", 0);
  Feed({run});
  Pass(60s);
  EXPECT_EQ(loop_->storm().number, 0u);
}

TEST_F(LoadSheddingTest, APauseOfTheClusterIsNoOverload) {
  Beat("x1", 0);
  Feed({Pending(Shell("blocked"), 1ms, 100)});
  Pause();
  Pass(60s);
  EXPECT_EQ(loop_->storm().number, 0u);
}

TEST_F(LoadSheddingTest, APauseOfTheClusterEndsIt) {
  MakeStorm();
  Pause();
  Feed({FireOf(Every("low", 60s))});
  Pass(40s);
  EXPECT_TRUE(loop_->storm().over);
  Pause(false);
  Pass(4s);
  EXPECT_TRUE(skipped_.empty());
  Pass(4s);
  EXPECT_EQ(skipped_.size(), 1u);
}

// A world of runs of every kind that wait through a storm. Returns the first that was shed although
// it must not be; "" if there is none.
class SheddingWorldTest : public LoadSheddingTest {
 protected:
  std::string Violation() {
    MakeStorm();
    std::map<RunKey, std::string> names;
    std::vector<PendingRun> runs;
    const auto add = [&](const std::string& name, PendingRun run) {
      names[run.key] = name;
      runs.push_back(std::move(run));
    };
    const auto like = [&](RunKind kind, uint32_t flags) {
      PendingRun run = FireOf(Every(fmt::format("{} {}", Name(kind), flags), 60s));
      run.kind = kind;
      run.flags = flags;
      auto extras = std::make_shared<RunExtras>();
      extras->request_loaded = true;
      run.extras = extras;
      return run;
    };
    for (const RunKind kind : kRunKinds) {
      const bool fires = kind == RunKind::kCron || kind == RunKind::kRate || kind == RunKind::kOnce;
      if (!fires) add(std::string(Name(kind)), like(kind, 0));
    }
    add("node", like(RunKind::kWorkflow, run_flag::kNode));
    add("of a backfill", like(RunKind::kRate, run_flag::kBackground));
    PendingRun retry = FireOf(Every("retry", 60s));
    retry.attempt = 2;
    add("retry", retry);
    add("high priority", FireOf(Every("high", 60s), 20));
    add("seldom", FireOf(Every("seldom", 3h)));
    JobDefinition once;
    once.schedules = {{.kind = ScheduleKind::kOnce, .at = clock_.Wall() + 1ms}};
    PendingRun only = FireOf(Shell("once", once));
    only.kind = RunKind::kOnce;
    add("once", only);
    const PendingRun low = FireOf(Every("low", 60s));
    add("low", low);
    Feed(runs);
    Pass(40s);
    if (!skipped_.contains(low.key)) return "nothing is shed";
    skipped_.erase(low.key);
    for (const auto& [key, reason] : skipped_) return names[key] + " " + reason;
    return "";
  }
};

TEST_F(SheddingWorldTest, OnlyFiresWhoseNextWillDoAreShed) { EXPECT_EQ(Violation(), ""); }

TEST_F(SheddingWorldTest, ARuleThatTakesRunsByHandIsNoticed) {
  failpoint::Break("shed.takes_manual");
  EXPECT_NE(Violation(), "");
}

}  // namespace
}  // namespace carillon::scheduler
