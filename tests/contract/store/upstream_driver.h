// Driver of the contract of runs that wait for runs of other jobs.
#pragma once

#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

class UpstreamDriver : public WorkflowDriver {
 public:
  explicit UpstreamDriver(StoreHandle& store) : WorkflowDriver(store) {}

  static JobDefinition Waiting(JobDefinition definition, const std::string& before = "up",
                               const std::string& in = "") {
    definition.waits_for = {{.job = JobId(before), .in = JobId(in), .window = {.day = 0}}};
    definition.wait_limit_s = 3'600;
    return definition;
  }
  static JobDefinition After(const std::string& before, AfterOutcome on = AfterOutcome::kSuccess) {
    JobDefinition definition = Manual();
    definition.schedules = {{.kind = ScheduleKind::kAfter, .upstream = before, .on = on}};
    return definition;
  }

  std::vector<AwaitingRun> Awaiting(WallTime until) {
    return v(upstream.ScanAwaiting(All(), until, std::nullopt, 100)).runs;
  }
  RunRow OnlyAwaiting(WallTime until) {
    const std::vector<AwaitingRun> waiting = Awaiting(until);
    EXPECT_EQ(waiting.size(), 1u);
    return waiting.empty() ? RunRow{} : waiting.front().row;
  }
  static WaitItem ItemOf(const RunRow& row) {
    return {.key = row.key,
            .segment = row.segment,
            .job_no = row.job_no,
            .def_version = row.def_version};
  }
  WaitEffect End(const WaitItem& item, WallTime now) {
    const std::vector<WaitEffect> effects = v(upstream.EndWaits({item}, fence, now));
    EXPECT_EQ(effects.size(), 1u);
    return effects.empty() ? WaitEffect{} : effects.front();
  }
  WaitEffect Expire(const RunRow& row, WallTime now) {
    WaitItem item = ItemOf(row);
    item.expired = true;
    item.error = "Waits for up, which has no fire in the window, until 01:00.";
    return End(item, now);
  }
  static bool IsNothing(const WaitEffect& effect) {
    return !effect.due && !effect.blocked && !effect.failed && !effect.completed;
  }

  UpstreamSources SourcesOf(const std::string& job, const std::string& in = "") {
    const auto found = v(upstream.ReadSources({{.job = JobId(job), .in = JobId(in)}}));
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? UpstreamSources{} : found.front();
  }
  std::vector<UpstreamRun> RunsOf(const UpstreamSources& sources, WallTime from, WallTime to) {
    const auto found = v(upstream.ReadUpstreamRuns({{.sources = sources, .from = from, .to = to}}));
    EXPECT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().known_from, WallTime{});
    return found.empty() ? std::vector<UpstreamRun>{} : found.front().runs;
  }
  // The answer to a run of this fire that waits so.
  WaitAnswer Judge(const UpstreamWait& wait, WallTime fire) {
    const UpstreamSources sources = SourcesOf(wait.job.value(), wait.in.value());
    const FireWindow window = v(WindowOf(wait.window, fire, "UTC"));
    return JudgeWait(wait, window, sources,
                     {.runs = RunsOf(sources, window.from, window.ahead_until)});
  }
  static std::vector<WallTime> NextOf(const UpstreamSources& sources) {
    std::vector<WallTime> times;
    for (const SourceSchedule& schedule : sources.schedules) times.push_back(schedule.next);
    return times;
  }
  // Ends a planned run.
  RunRow Finished(const RunRow& row, RunState state, WallTime now) {
    return EndRun(Start(row, ++token_, fence, now), state, now + 1s);
  }
  // Acts on all ends that other jobs wait for.
  std::vector<RunRow> Act(WallTime now) {
    std::vector<RunRow> started;
    const auto ends = v(completions.ScanCompletions(All(), 100));
    for (const CompletionEffect& one : v(completions.Apply(ends, fence, now))) {
      started.insert(started.end(), one.started.begin(), one.started.end());
    }
    return started;
  }

 private:
  uint64_t token_ = 900;
};

template <typename Factory>
class UpstreamContract : public StoreContract<Factory> {
 protected:
  UpstreamDriver upstream_driver() { return UpstreamDriver(this->handle()); }
};
TYPED_TEST_SUITE(UpstreamContract, StoreFactories);

}  // namespace carillon::test
