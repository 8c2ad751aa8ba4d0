// The firing loop after its queue of run events was full, and while no executor has room for
// a long time.
#include "common/domain/run/returns.h"
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringEventsTest : public FiringLoopTest {
 protected:
  // Pushes more events than the queue holds.
  void LoseEvents() {
    for (int i = 0; i < 65; ++i) Tell(RunEvent::What::kClaimed, {.schedule_id = ScheduleId(1)});
  }
};

TEST_F(FiringEventsTest, LostEventsAreMadeUpForByTheLeases) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  Tasks();
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  LoseEvents();
  Step(6s);
  Step(3s);  // after this the loop has forgotten the run
  Beat("x1", 1);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

// Most runs are short, so a run whose end event is lost was usually claimed a moment ago.
TEST_F(FiringEventsTest, LostEndOfARunThatWasClaimedJustNowIsMadeUpForToo) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  Tasks();
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  LoseEvents();
  Step(100ms);
  Step(6s);
  Step(3s);  // after this the loop has forgotten the run
  Beat("x1", 1);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

// An executor may report free slots but claim nothing, because its clock is wrong or it reads
// another bus.
TEST_F(FiringEventsTest, ExecutorThatClaimsNothingGetsOneTaskAtATime) {
  const StoredJob job = Shell("job");
  std::map<std::string, std::vector<RunKey>> given;
  const auto round = [&](int runs, Duration ahead) {
    std::vector<PendingRun> due;
    for (int i = 0; i < runs; ++i) due.push_back(Pending(job, 0ms));
    Feed(due);
    for (const char* id : {"x1", "x2"}) Beat(id, 8);
    Step(ahead);
    given.clear();
    for (const BusRecord& record : std::exchange(producer_.records, {})) {
      for (const char* id : {"x1", "x2"}) {
        const OpenedTasks opened = OpenTasks(record, ExecutorId(id), Incarnation("e1"),
                                             clock_.Wall(), {signer_.public_key()});
        for (const TaskMessage& task : opened.tasks) given[id].push_back(task.key);
      }
    }
    for (const RunKey& key : given["x2"]) {
      Tell(RunEvent::What::kClaimed, key, 1, "x2");
      Tell(RunEvent::What::kEnded, key, 1, "");
    }
  };
  round(6, 5ms);
  EXPECT_EQ(given["x1"].size(), 3u);
  round(0, 5s);
  EXPECT_EQ(given["x2"].size(), 3u) << "those that timed out";
  size_t silent = 0;
  for (int i = 0; i < 40; ++i) {
    round(2, 100ms);
    silent += given["x1"].size();
  }
  EXPECT_EQ(silent, 1u) << "in 4 s";
  round(0, 2s);
  round(2, 5ms);
  ASSERT_EQ(given["x1"].size(), 1u) << "asked again";
  Tell(RunEvent::What::kClaimed, given["x1"][0], 1, "x1");
  round(8, 5ms);
  EXPECT_EQ(given["x1"].size(), 4u) << "it is back";
}

// A manual run may wait for ever, but the runs after it in the queue expire while there
// is no executor.
TEST_F(FiringEventsTest, WhatWentAwayBehindARunThatWaitsIsNotKept) {
  JobDefinition job;
  job.queue_timeout_s = 1;
  const StoredJob hasty = Shell("hasty", job);
  const PendingRun patient = Pending(Shell("patient"), -1h);
  Feed({patient});
  size_t skipped = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<PendingRun> runs;
    for (int i = 0; i < 500; ++i) runs.push_back(Pending(hasty, -2s));
    Feed(runs);
    Step(200ms);
    skipped += Skips().size();
  }
  EXPECT_GT(skipped, 15'000u);
  EXPECT_LE(loop_->lane_entries(), 6'000u);
  Beat("x1", 1);
  Step();
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key, patient.key);
}

TEST_F(FiringEventsTest, ARunThatWasGivenBackIsAMisfireLikeAFirstAttempt) {
  JobDefinition job;
  job.command = "true";
  job.misfire_policy = MisfirePolicy::kSkip;
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 10s, .start = clock_.Wall() - 10min}};
  const StoredJob stored = CreateJob("late", job);
  PendingRun returned = Pending(stored, Duration{});
  returned.key.fire = returned.due = clock_.Wall() - 2min;
  returned.attempt = 2;
  PendingRun retried = returned;
  retried.key.fire -= 10s;
  returned.flags |= kOneReturn;
  Feed({returned, retried});
  Step();
  ASSERT_EQ(Skips().size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
