// A run that waits for runs of another job, and what is known of that one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/upstream/upstream_wait.h"
#include "common/domain/workflow/node_key.h"
#include "tests/support/failpoint_on.h"

namespace carillon::upstream_wait_test {

inline constexpr WallTime kDay = FromUnixMicros(1'772'323'200'000'000);  // 2026-03-01T00:00:00Z
inline constexpr WallTime kFire = kDay + 6h;                             // of the run that waits

inline const JobNo kA(1);  // for whose runs it waits
inline const JobNo kZ(2);  // before it
inline const JobNo kW(3);  // a workflow, of which it is a node
inline const JobNo kY(4);  // before it, too

inline UpstreamRun Of(JobNo job_no, WallTime fire, RunState state = RunState::kCompleted,
                      std::string reason = "") {
  return {.key = {fire, ScheduleId(10 + job_no.value()), 0},
          .job_no = job_no,
          .state = state,
          .reason = std::move(reason)};
}
inline UpstreamRun NodeOf(JobNo workflow, uint64_t number, WallTime fire,
                          RunState state = RunState::kCompleted) {
  UpstreamRun run = Of(kA, fire, state);
  run.key = NodeKey(fire, {.workflow_run_no = number, .position = 1}).value();
  run.workflow = workflow;
  return run;
}

class UpstreamWaitTest : public testing::Test {
 protected:
  void TearDown() override { failpoint::Reset(); }

  WaitAnswer Judge(std::vector<UpstreamRun> runs) {
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    runs_.runs = std::move(runs);
    return JudgeWait(wait_, WindowOf(wait_.window, kFire, "UTC").value(), sources_, runs_);
  }
  WaitCause CauseOf(std::vector<UpstreamRun> runs) {
    const WaitAnswer answer = Judge(std::move(runs));
    EXPECT_EQ(answer.verdict, WaitVerdict::kNotMet);
    return answer.cause;
  }
  bool IsMet(std::vector<UpstreamRun> runs) {
    const WaitAnswer answer = Judge(std::move(runs));
    EXPECT_NE(answer.verdict, WaitVerdict::kUnknown);
    return answer.verdict == WaitVerdict::kMet;
  }
  void After(JobNo before) {
    sources_.jobs.push_back(before);
    sources_.by_end.push_back(before);
  }
  // An open backfill that may still run fires of [from, until).
  void Backfill(WallTime from, WallTime until) {
    sources_.backfills = {{.number = 5, .job_no = kA, .from = from, .until = until}};
  }
  void Next(WallTime next, bool paused = false) {
    sources_.schedules.push_back(
        {.job_no = kA, .id = ScheduleId(11), .next = next, .paused = paused});
  }
  void InW() {
    wait_.in = JobId("nightly");
    sources_.in_no = kW;
    sources_.jobs = {kW};
  }

  UpstreamWait wait_ = {.job = JobId("load"), .window = {.day = 0}};
  UpstreamSources sources_ = {.job_no = kA, .job_name = "Load", .jobs = {kA}};
  UpstreamRuns runs_;
};

}  // namespace carillon::upstream_wait_test
