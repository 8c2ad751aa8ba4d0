// Contract of what is read to judge whether the runs for which others wait have come.
#pragma once

#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

TYPED_TEST(UpstreamContract, AJobWithTimesIsReadWithItsNextFires) {
  UpstreamDriver s = this->upstream_driver();
  JobDefinition definition = s.Every(10s);
  definition.schedules.push_back({.kind = ScheduleKind::kRate, .every = 1h, .start = kT0});
  const StoredJob up = s.Create("up", definition);
  EXPECT_EQ(s.NextOf(s.SourcesOf("up")), (std::vector<WallTime>{kT0 + 10s, kT0 + 1h}));
  s.Plan(kT0 + 25s, s.fence);
  const UpstreamSources sources = s.SourcesOf("up");
  EXPECT_EQ(sources.job_no, up.job_no);
  EXPECT_EQ(sources.job_name, "job");
  EXPECT_EQ(sources.jobs, std::vector<JobNo>{up.job_no});
  EXPECT_EQ(s.NextOf(sources), (std::vector<WallTime>{kT0 + 30s, kT0 + 1h}));
  EXPECT_EQ(sources.schedules[0].job_no, up.job_no);
  EXPECT_EQ(sources.schedules[0].id, up.schedules[0].schedule_id);
  EXPECT_FALSE(sources.schedules[0].paused || sources.deleted || sources.too_many ||
               sources.not_a_node);
}

TYPED_TEST(UpstreamContract, APausedJobHasUnplannedFires) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob up = s.Create("up", s.Every(10s));
  s.Plan(kT0 + 25s, s.fence);
  s.Pause(up, kT0 + 12s);
  const UpstreamSources sources = s.SourcesOf("up");
  EXPECT_EQ(s.NextOf(sources), std::vector<WallTime>{kT0 + 20s});
  EXPECT_TRUE(sources.schedules[0].paused);
}

TYPED_TEST(UpstreamContract, OfADelayScheduleTheFireAfterAnEndIsUnplanned) {
  UpstreamDriver s = this->upstream_driver();
  JobDefinition definition = s.Manual();
  definition.schedules = {{.kind = ScheduleKind::kDelay, .every = 1min}};
  s.Create("up", definition);
  s.Plan(kT0 + 10s, s.fence, kT0 + 1s);
  const RunRow row = s.OnlyPending(kT0 + 10s);
  // Whether its run is open is known only from the runs, which are read later.
  EXPECT_EQ(s.NextOf(s.SourcesOf("up")), std::vector<WallTime>{row.key.fire + 1us});
  const UpstreamWait wait{.job = JobId("up"), .window = {.day = 0}};
  EXPECT_EQ(s.Judge(wait, kT0 + 1h).cause, WaitCause::kOpen);
  s.Finished(row, RunState::kCompleted, kT0 + 11s);
  EXPECT_EQ(s.NextOf(s.SourcesOf("up")), std::vector<WallTime>{row.key.fire + 1us});
  EXPECT_EQ(s.Judge(wait, kT0 + 1h).cause, WaitCause::kUnplanned);
  s.Act(kT0 + 13s);
  EXPECT_EQ(s.NextOf(s.SourcesOf("up")), std::vector<WallTime>{kT0 + 12s + 1min});
}

TYPED_TEST(UpstreamContract, WithoutTimesTheJobsBeforeItAreSources) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob z = s.Create("z", s.Every(10s));
  const StoredJob y = s.Create("y", s.After("z", AfterOutcome::kDone));
  const StoredJob bad = s.Create("bad", s.Every(10s));
  JobDefinition both = s.After("y");
  both.schedules.push_back(
      {.kind = ScheduleKind::kAfter, .upstream = "bad", .on = AfterOutcome::kFailure});
  const StoredJob up = s.Create("up", both);
  const UpstreamSources sources = s.SourcesOf("up");
  EXPECT_EQ(sources.jobs, (std::vector<JobNo>{z.job_no, y.job_no, up.job_no}));
  EXPECT_EQ(sources.by_end, (std::vector<JobNo>{z.job_no, y.job_no}));
  ASSERT_EQ(sources.schedules.size(), 1u);
  EXPECT_EQ(sources.schedules[0].id, z.schedules[0].schedule_id);
  EXPECT_EQ(s.SourcesOf("bad").jobs, std::vector<JobNo>{bad.job_no});
}

TYPED_TEST(UpstreamContract, AWorkflowIsTheSourceOfItsNodes) {
  UpstreamDriver s = this->upstream_driver();
  JobDefinition definition = s.Chain();
  definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
  const StoredJob flow = s.CreateFlow(definition);
  const StoredJob a = s.v(s.jobs.GetJob(JobId("a")));
  const UpstreamSources anywhere = s.SourcesOf("a");
  EXPECT_EQ(anywhere.jobs, (std::vector<JobNo>{a.job_no, flow.job_no}));
  EXPECT_EQ(anywhere.in_no, JobNo{});
  EXPECT_TRUE(anywhere.by_end.empty()) << "its node begins with it";
  const UpstreamSources within = s.SourcesOf("a", "flow");
  EXPECT_EQ(within.job_no, a.job_no);
  EXPECT_EQ(within.in_no, flow.job_no);
  EXPECT_EQ(within.jobs, std::vector<JobNo>{flow.job_no});
  EXPECT_EQ(s.NextOf(within), std::vector<WallTime>{kT0 + 1h});
  s.Create("other", s.Manual());
  EXPECT_TRUE(s.SourcesOf("other", "flow").not_a_node);
}

TYPED_TEST(UpstreamContract, JobsThatAreNotThereAreToldApart) {
  UpstreamDriver s = this->upstream_driver();
  EXPECT_EQ(s.SourcesOf("none"), UpstreamSources{});
  const StoredJob up = s.Create("up", s.Every(10s));
  const UpstreamSources within = s.SourcesOf("up", "none");
  EXPECT_EQ(within.job_no, up.job_no);
  EXPECT_EQ(within.in_no, JobNo{});
  EXPECT_TRUE(within.jobs.empty());
  ASSERT_OK(s.jobs.DeleteJob(up.job_id, up.version, {.now = kT0 + 1s}));
  const UpstreamSources deleted = s.SourcesOf("up");
  EXPECT_TRUE(deleted.deleted);
  EXPECT_EQ(deleted.job_no, up.job_no);
  EXPECT_TRUE(deleted.schedules.empty());
  const auto many = s.v(s.upstream.ReadSources({{JobId("none")}, {JobId("up")}, {JobId("none")}}));
  ASSERT_EQ(many.size(), 3u);
  EXPECT_EQ(many[1], deleted);
  EXPECT_TRUE(s.v(s.upstream.ReadSources({})).empty());
}

TYPED_TEST(UpstreamContract, TooLongAChainIsNotRead) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("j0", s.Every(10s));
  for (int i = 1; i <= 21; ++i) {
    s.Create("j" + std::to_string(i), s.After("j" + std::to_string(i - 1)));
  }
  EXPECT_FALSE(s.SourcesOf("j20").too_many);
  EXPECT_EQ(s.SourcesOf("j20").jobs.size(), 21u);
  EXPECT_TRUE(s.SourcesOf("j21").too_many);
}

TYPED_TEST(UpstreamContract, DatedRunsOfASpanAreRead) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob up = s.Create("up", s.Every(10s));
  const StoredJob other = s.Create("other", s.Every(10s));
  s.Plan(kT0 + 45s, s.fence);
  s.Execute(up, kT0 + 21s);
  const UpstreamSources sources = s.SourcesOf("up");
  std::vector<UpstreamRun> runs = s.RunsOf(sources, kT0 + 10s, kT0 + 30s);
  ASSERT_EQ(runs.size(), 3u) << "neither those by hand nor those of other jobs";
  EXPECT_EQ(runs[0].key, (RunKey{kT0 + 10s, up.schedules[0].schedule_id, 0}));
  EXPECT_EQ(runs[0].job_no, up.job_no);
  EXPECT_EQ(runs[0].state, RunState::kPending);
  EXPECT_EQ(runs[0].workflow, JobNo{});
  EXPECT_EQ(runs[2].key.fire, kT0 + 30s);
  s.Finished(s.Get(runs[0].key).row, RunState::kFailed, kT0 + 11s);
  runs = s.RunsOf(sources, kT0 + 10s, kT0 + 30s);
  EXPECT_EQ(runs[0].state, RunState::kFailed);
  EXPECT_EQ(runs[0].reason, reason::kExitCode);
  EXPECT_TRUE(s.RunsOf(sources, kT0 + 11s, kT0 + 19s).empty());
  // Those that belong to the last fire are read as well.
  EXPECT_EQ(s.RunsOf(sources, kT0 + 11s, kT0 + 20s - 1us).size(), 1u);
  EXPECT_EQ(s.RunsOf(sources, kT0 + 11s, kT0 + 20s - 10ms).size(), 0u);
}

TYPED_TEST(UpstreamContract, RunsThatNeverRanAreNoFires) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10s));
  s.Plan(kT0 + 35s, s.fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 35s);
  ASSERT_EQ(rows.size(), 3u);
  const auto skip = [&](const RunRow& row, std::string_view why) {
    const SkipItem item{.key = row.key,
                        .segment = row.segment,
                        .job_no = row.job_no,
                        .def_version = row.def_version,
                        .reason = why};
    EXPECT_EQ(s.v(s.firing.Skip({item}, s.fence, kT0 + 30s)).size(), 1u);
  };
  skip(rows[0], reason::kMisfire);
  skip(rows[1], reason::kQueueTimeout);
  skip(rows[2], reason::kPaused);
  const auto runs = s.RunsOf(s.SourcesOf("up"), kT0, kT0 + 1h);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].key, rows[1].key);
  EXPECT_EQ(runs[0].state, RunState::kSkipped);
  EXPECT_EQ(runs[1].key, rows[2].key);
  EXPECT_EQ(runs[1].reason, reason::kPaused) << "what its job makes is missing";
}

TYPED_TEST(UpstreamContract, ChainsThatAPersonStartedAreNoDates) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob first = s.Create("first", s.Every(10h));
  s.Create("second", s.After("first"));
  s.Create("third", s.After("second"));
  s.Finished(s.Execute(first, kT0 + 1s), RunState::kCompleted, kT0 + 1s);
  std::vector<RunRow> started = s.Act(kT0 + 5s);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].flags & run_flag::kByHand, run_flag::kByHand);
  s.Finished(started[0], RunState::kCompleted, kT0 + 6s);
  started = s.Act(kT0 + 9s);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].flags & run_flag::kByHand, run_flag::kByHand);
  s.Finished(started[0], RunState::kCompleted, kT0 + 10s);
  EXPECT_TRUE(s.RunsOf(s.SourcesOf("third"), kT0, kT0 + 1h).empty());
  // The same by the schedule.
  s.Plan(kT0 + 11h, s.fence, kT0 + 10h);
  s.Finished(s.OnlyPending(kT0 + 11h), RunState::kCompleted, kT0 + 10h);
  started = s.Act(kT0 + 10h + 5s);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].flags & run_flag::kByHand, 0u);
  EXPECT_EQ(s.RunsOf(s.SourcesOf("third"), kT0, kT0 + 11h).size(), 2u);
}

TYPED_TEST(UpstreamContract, NodesAreReadWithTheirWorkflow) {
  UpstreamDriver s = this->upstream_driver();
  JobDefinition definition = s.Chain();
  definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
  const StoredJob flow = s.CreateFlow(definition);
  s.Plan(kT0 + 1h, s.fence, kT0 + 1h);
  const RunKey own = s.OnlyPending(kT0 + 1h).key;
  const UpstreamSources sources = s.SourcesOf("a", "flow");
  EXPECT_EQ(s.RunsOf(sources, kT0, kT0 + 2h).size(), 1u);
  s.ExpectBegin(own, kT0 + 1h);
  const auto runs = s.RunsOf(sources, kT0, kT0 + 2h);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].key, own);
  EXPECT_EQ(runs[0].workflow, JobNo{});
  EXPECT_EQ(runs[1].key, s.RowOf(own, "a").key);
  EXPECT_EQ(runs[1].workflow, flow.job_no);
  // By hand its nodes are no dates.
  s.Begun(flow, kT0 + 90min);
  EXPECT_EQ(s.RunsOf(sources, kT0, kT0 + 2h), runs);
}

TYPED_TEST(UpstreamContract, OfAJobInAWorkflowNoOtherRunsAreRead) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob a = s.Create("a", s.Every(10min));
  JobDefinition definition = s.Chain();
  definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
  s.CreateFlow(definition);
  s.Plan(kT0 + 1h, s.fence);
  EXPECT_EQ(s.RunsOf(s.SourcesOf("a"), kT0, kT0 + 2h).size(), 6u);
  const UpstreamSources within = s.SourcesOf("a", "flow");
  const std::vector<UpstreamRun> before = s.RunsOf(within, kT0, kT0 + 2h);
  ASSERT_EQ(before.size(), 1u);
  s.ExpectBegin(before[0].key, kT0 + 1h);
  const std::vector<UpstreamRun> runs = s.RunsOf(within, kT0, kT0 + 2h);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].key, s.RowOf(before[0].key, "a").key);
  EXPECT_EQ(runs[1].job_no, a.job_no);
}

}  // namespace carillon::test
