// Contract of jobs that start after other jobs, for several runs of the upstream job with one fire.
#pragma once

#include <set>

#include "common/domain/workflow/node_key.h"
#include "tests/contract/store/dependents_contract.h"

namespace carillon::test {

// Two schedules at one instant, as for two tenants; a schedule and a node of a workflow; two nodes
// of one workflow. They end in one batch or one after the other.
TYPED_TEST(DependentsContract, EachRunOfOneFireStartsARun) {
  DependentsDriver s = this->dependents();
  const auto node = [&s](WallTime fire, uint64_t no, size_t position) {
    return s.v(NodeKey(fire, {.workflow_run_no = no, .position = position})).schedule_id;
  };
  int instant = 0;
  for (const bool one_batch : {true, false}) {
    for (const int pair : {0, 1, 2}) {
      const std::string id = std::to_string(++instant);
      const WallTime fire = kT0 + instant * 1min;
      JobDefinition twice = s.Every(10h);
      twice.schedules.push_back(twice.schedules.front());
      const StoredJob a = s.Create("a" + id, twice);
      const StoredJob b = s.Create("b" + id, s.After("a" + id));
      const auto planned = [&](ScheduleId schedule, RunKind kind) {
        return PlannedRun{.key = {fire, schedule, 0},
                          .job_no = a.job_no,
                          .segment = a.segment,
                          .kind = kind,
                          .due = fire,
                          .def_version = a.version,
                          .flags = run_flag::kDependents};
      };
      const ScheduleId first = a.schedules.at(0).schedule_id;
      const ScheduleId second = a.schedules.at(1).schedule_id;
      const auto number = static_cast<uint64_t>(instant);
      std::vector<PlannedRun> runs = {planned(first, RunKind::kRate)};
      if (pair == 0) runs.push_back(planned(second, RunKind::kRate));
      if (pair == 1) runs.push_back(planned(node(fire, number, 1), RunKind::kWorkflow));
      if (pair == 2) {
        runs = {planned(node(fire, number, 1), RunKind::kWorkflow),
                planned(node(fire, number, 2), RunKind::kWorkflow)};
      }
      ASSERT_OK(s.firing.Plan({.runs = runs}, s.fence, kT0));
      std::vector<RunRow> started;
      int64_t existing = 0;
      const auto act = [&] {
        const CompletionEffect effect = s.Act(fire + 5s);
        started.insert(started.end(), effect.started.begin(), effect.started.end());
        existing += effect.existing;
      };
      for (const PlannedRun& run : runs) {
        s.Ended(s.Started(s.Get(run.key).row, fire + 1s), RunState::kCompleted, fire + 2s);
        if (!one_batch) act();
      }
      act();
      EXPECT_EQ(existing, 0) << id;
      ASSERT_EQ(started.size(), 2u) << id;
      std::set<RunKey> by;
      for (size_t i = 0; i < started.size(); ++i) {
        EXPECT_EQ(started[i].key, (RunKey{fire + Duration(i), b.schedules.at(0).schedule_id, 0}));
        const RunDetail run = s.Get(started[i].key);
        ASSERT_TRUE(run.trigger);
        by.insert(run.trigger->run);
      }
      EXPECT_EQ(by, (std::set<RunKey>{runs[0].key, runs[1].key})) << id;
    }
  }
}

// The run that an end has started is found again, wherever it is.
TYPED_TEST(DependentsContract, ARetryOfOneOfTwoStartsNothing) {
  DependentsDriver s = this->dependents();
  JobDefinition twice = s.Every(10s);
  twice.schedules.push_back(twice.schedules.front());
  s.Create("a", twice);
  s.Create("b", s.After("a", AfterOutcome::kDone));
  s.Plan(kT0 + 10s, s.fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 10s);
  ASSERT_EQ(rows.size(), 2u);
  for (const RunRow& row : rows) {
    s.Ended(s.Started(row, kT0 + 10s), RunState::kFailed, kT0 + 11s);
  }
  EXPECT_EQ(s.Act(kT0 + 12s).started.size(), 2u);
  for (const RunRow& row : rows) {
    const RunDetail retried = s.v(s.runs.RetryRun({.key = row.key}, {.now = kT0 + 20s}));
    s.Ended(s.Started(retried.row, kT0 + 20s), RunState::kCompleted, kT0 + 21s);
    const CompletionEffect again = s.Act(kT0 + 22s);
    EXPECT_TRUE(again.started.empty());
    EXPECT_EQ(again.existing, 1);
  }
}

TYPED_TEST(DependentsContract, EachEndOfOneFireLeavesAGap) {
  DependentsDriver s = this->dependents();
  JobDefinition twice = s.Every(10s);
  twice.schedules.push_back(twice.schedules.front());
  s.Create("a", twice);
  const StoredJob b = s.Create("b", s.After("a"));
  s.Pause(b, kT0 + 1s);
  s.Plan(kT0 + 10s, s.fence);
  for (const RunRow& row : s.Pending(kT0 + 10s)) {
    s.Ended(s.Started(row, kT0 + 10s), RunState::kCompleted, kT0 + 11s);
  }
  const CompletionEffect effect = s.Act(kT0 + 12s);
  EXPECT_EQ(effect.paused, 2);
  EXPECT_EQ(effect.existing, 0);
  EXPECT_EQ(s.Gaps(b).size(), 2u);
}

}  // namespace carillon::test
