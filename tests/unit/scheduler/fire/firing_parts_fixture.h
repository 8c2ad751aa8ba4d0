// Fixture of the firing loop with fires that are done in parts.
#pragma once

#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {

class FiringPartsTest : public FiringLoopTest {
 protected:
  FiringPartsTest() {
    begin_workflow_ = [this](const PendingRun& run, const JobDefinition&) {
      begun_.push_back(run.key);
    };
  }
  void BeatWithShards(const std::string& id, int free_slots = 4) {
    Beat(id, free_slots);
    executors_.HeartbeatFrom(
        ExecutorId(id), Incarnation("e1"),
        {.free_slots = free_slots, .free_light_slots = 100, .features = {Feature::kShards}},
        clock_.Wall(), clock_.Steady());
  }
  static JobDefinition InParts() {
    JobDefinition job;
    job.shards = Shards{.total = 4};
    return job;
  }
  static JobDefinition OnAllHosts(int64_t wait_s) {
    JobDefinition job;
    job.broadcast = Broadcast{.wait_s = wait_s};
    return job;
  }
  PendingRun Part(const StoredJob& job, uint32_t shard, const std::string& host = "") {
    PendingRun run = Pending(job, 1ms);
    run.key.shard = shard;
    run.kind = RunKind::kShard;
    run.shard_total = 4;
    run.flags = run_flag::kPart;
    if (!host.empty()) {
      run.extras = std::make_shared<RunExtras>(RunExtras{.pinned_executor = ExecutorId(host)});
    }
    return run;
  }

  // Fires that wait, the first of them for the longest.
  std::vector<PendingRun> Fires(const StoredJob& job, int count) {
    std::vector<PendingRun> fires;
    for (int i = 0; i < count; ++i) fires.push_back(Pending(job, Duration(i)));
    Feed(fires);
    return fires;
  }
  PendingRun PartOf(const PendingRun& own, uint32_t shard) {
    PendingRun part = own;
    part.key.shard = shard;
    part.kind = RunKind::kShard;
    part.due = clock_.Wall();
    part.shard_total = 4;
    part.flags = run_flag::kPart;
    return part;
  }
  // An executor runs the part.
  void LetPartRun(const PendingRun& own, uint32_t shard) {
    const HeldAttempt held{.key = PartOf(own, shard).key,
                           .segment = own.segment,
                           .job_no = own.job_no,
                           .attempt = 1,
                           .token = {9, ++tokens_}};
    leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{held, EpochOf(own.segment)}},
                     clock_.Steady());
  }
  void SayBegun(const RunKey& own) {
    events_.Push({{}, {{.what = RunEvent::What::kBegun, .key = own}}});
  }
  void SayNotBegun(const RunKey& own) {
    events_.Push({{}, {{.what = RunEvent::What::kNotBegun, .key = own}}});
  }
  // Lets time pass, in which the executor is heard.
  void Pass(Duration time, int free_slots = 4) {
    for (Duration passed{}; passed < time; passed += 1s) {
      SampleClock();
      BeatWithShards("x1", free_slots);
      Step(1s);
    }
  }

  // Makes x1 claim nothing. Afterwards none of the runs that have found out waits any more.
  std::vector<PendingRun> MakeSilent(int free_slots = 4) {
    JobDefinition light;
    light.type = JobType::kNoop;
    std::vector<PendingRun> plain;
    for (int i = 0; i < ExecutorCredits::kSilentAfter; ++i) {
      plain.push_back(Pending(CreateJob("silent" + std::to_string(++silent_runs_), light), 1ms));
    }
    BeatWithShards("x1", free_slots);
    Feed(plain);
    Pass(7s, free_slots);
    EXPECT_TRUE(executors_.Find(ExecutorId("x1"))->claims_nothing);
    for (const PendingRun& run : plain) {
      events_.Push({{}, {{.what = RunEvent::What::kGone, .key = run.key}}});
    }
    return plain;
  }

  void DownSince(SteadyTime since, const std::string& host) {
    host_down_for_ = [this, since, host](const PendingRun& run,
                                         const Definition&) -> std::optional<Duration> {
      if (run.extras->pinned_executor != ExecutorId(host)) return std::nullopt;
      return clock_.Steady() - since;
    };
  }

  int silent_runs_ = 0;
  std::vector<RunKey> begun_;
  uint64_t tokens_ = 0;
};

}  // namespace carillon::scheduler
