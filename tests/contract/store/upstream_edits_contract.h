// Contract of edits of jobs whose runs wait for runs of other jobs, and of what they may name.
#pragma once

#include "common/domain/run/dependents.h"
#include "tests/contract/store/upstream_driver.h"

namespace carillon::test {

TYPED_TEST(UpstreamContract, AnEditMakesRunsWaitThatArePlannedAhead) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  const StoredJob job = s.Create("job", s.Every(10s));
  s.Plan(kT0 + 35s, s.fence);
  s.Replace(job, s.Waiting(s.Every(10s)), kT0 + 12s);
  const std::vector<AwaitingRun> waiting = s.Awaiting(kT0 + 1h);
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_EQ(waiting[0].row.key.fire, kT0 + 20s);
  EXPECT_EQ(waiting[0].row.def_version, job.version + 1);
  EXPECT_EQ(s.OnlyPending(kNever).key.fire, kT0 + 10s) << "one that is due is not called back";
  s.Plan(kT0 + 45s, s.fence, kT0 + 36s);
  EXPECT_EQ(s.Awaiting(kT0 + 1h).size(), 3u) << "later ones are planned so";
}

TYPED_TEST(UpstreamContract, AnEditReleasesRunsThatArePlannedAhead) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  const StoredJob job = s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 35s, s.fence);
  s.Replace(job, s.Every(10s), kT0 + 12s);
  const std::vector<RunRow> due = s.Pending(kNever);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].due, kT0 + 20s);
  EXPECT_EQ(due[1].due, kT0 + 30s);
  // The next look finds that the other one waits for nothing.
  const RunRow left = s.OnlyAwaiting(kT0 + 1h);
  EXPECT_EQ(left.key.fire, kT0 + 10s);
  EXPECT_EQ(left.def_version, job.version + 1);
  EXPECT_EQ(s.End(s.ItemOf(left), kT0 + 13s).due->due, kT0 + 13s);
  s.Plan(kT0 + 45s, s.fence, kT0 + 36s);
  EXPECT_EQ(s.Pending(kNever).size(), 4u);
}

TYPED_TEST(UpstreamContract, AnotherEditLeavesWaitingRuns) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  const StoredJob job = s.Create("job", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 25s, s.fence);
  const RunKey ahead = s.Awaiting(kT0 + 1h).back().row.key;
  s.v(s.upstream.ReleaseRun(ahead, {.now = kT0 + 11s}));
  JobDefinition edited = s.Waiting(s.Every(10s));
  edited.priority = 7;
  s.Replace(job, edited, kT0 + 12s);
  EXPECT_EQ(s.OnlyAwaiting(kT0 + 1h).priority, 7);
  EXPECT_EQ(s.Get(ahead).row.due, ahead.fire) << "a person has released it";
}

TYPED_TEST(UpstreamContract, PausesAndDeletesEndRunsThatWait) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("up", s.Every(10h));
  const StoredJob paused = s.Create("paused", s.Waiting(s.Every(10s)));
  const StoredJob deleted = s.Create("deleted", s.Waiting(s.Every(10s)));
  s.Plan(kT0 + 25s, s.fence);
  ASSERT_EQ(s.Awaiting(kT0 + 1h).size(), 4u);
  s.Pause(paused, kT0 + 12s);
  ASSERT_OK(s.jobs.DeleteJob(deleted.job_id, deleted.version, {.now = kT0 + 12s}));
  EXPECT_TRUE(s.Awaiting(kT0 + 1h).empty());
  const auto reason_of = [&](const StoredJob& job) {
    const RunKey key{kT0 + 10s, job.schedules[0].schedule_id, 0};
    EXPECT_EQ(s.Get(key).row.state, RunState::kSkipped);
    return s.Get(key).result.reason;
  };
  EXPECT_EQ(reason_of(paused), reason::kPaused);
  EXPECT_EQ(reason_of(deleted), reason::kDeleted);
}

TYPED_TEST(UpstreamContract, JobsThatRunsWaitForAreDependencies) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const StoredJob a = s.v(s.jobs.GetJob(JobId("a")));
  JobDefinition definition = s.Waiting(s.Manual(), "a", "flow");
  definition.waits_for.push_back(
      {.job = JobId("a"), .on = AfterOutcome::kDone, .window = {.back_s = 60}});
  const StoredJob job = s.Create("job", definition);
  constexpr auto kWaits = DependencyKind::kWaits;
  EXPECT_EQ(s.v(s.jobs.ListDependencies(job.job_id)).upstream,
            (std::vector<JobDependency>{
                {.job_id = a.job_id, .job_name = "job", .kind = kWaits},
                {.job_id = a.job_id, .job_name = "job", .kind = kWaits, .on = AfterOutcome::kDone},
                {.job_id = flow.job_id, .job_name = "flow", .kind = kWaits}}));
  const auto downstream = s.v(s.jobs.ListDependencies(a.job_id)).downstream;
  ASSERT_EQ(downstream.size(), 3u);
  EXPECT_EQ(downstream[0].kind, DependencyKind::kNode);
  EXPECT_EQ(downstream[1].job_id, job.job_id);
  EXPECT_EQ(downstream[1].kind, kWaits);
  EXPECT_CODE(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0}), ErrorCode::kExists);
  const StoredJob edited = s.Replace(job, s.Waiting(s.Manual(), "b"), kT0 + 1s);
  EXPECT_EQ(s.v(s.jobs.ListDependencies(job.job_id)).upstream.size(), 1u);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 2s}));
  const StoredJob b = s.v(s.jobs.GetJob(JobId("b")));
  EXPECT_CODE(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0 + 3s}), ErrorCode::kExists);
  ASSERT_OK(s.jobs.DeleteJob(edited.job_id, edited.version, {.now = kT0 + 4s}));
  ASSERT_OK(s.jobs.DeleteJob(b.job_id, b.version, {.now = kT0 + 5s}));
}

TYPED_TEST(UpstreamContract, RunsWaitOnlyForJobsThatExist) {
  UpstreamDriver s = this->upstream_driver();
  const auto refused = [&](const JobDefinition& definition) -> std::string {
    const auto created = s.jobs.CreateJob(JobId("job"), definition, {.now = kT0});
    if (created.ok()) return "";
    return std::string(DependencyCode(created.error())) + " " + created.error().pointer;
  };
  EXPECT_EQ(refused(s.Waiting(s.Manual(), "none")), "unknown_job /waits_for/0/job");
  const StoredJob up = s.Create("up", s.Manual());
  EXPECT_EQ(refused(s.Waiting(s.Manual(), "up", "none")), "unknown_job /waits_for/0/in");
  EXPECT_EQ(refused(s.Waiting(s.Manual(), "job")), "cycle /waits_for/0/job");
  ASSERT_OK(s.jobs.DeleteJob(up.job_id, up.version, {.now = kT0 + 1s}));
  EXPECT_EQ(refused(s.Waiting(s.Manual(), "up")), "unknown_job /waits_for/0/job");
}

TYPED_TEST(UpstreamContract, AJobThatIsGoneMayStayInAnEdit) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob up = s.Create("up", s.Manual());
  const StoredJob job = s.Create("job", s.Waiting(s.Manual()));
  ASSERT_OK(s.jobs.DeleteJob(up.job_id, up.version, {.now = kT0 + 1s, .force = true}));
  JobDefinition edited = s.Waiting(s.Manual());
  edited.description = "nightly";
  const StoredJob kept = s.Replace(job, edited, kT0 + 2s);
  EXPECT_TRUE(s.v(s.jobs.ListDependencies(job.job_id)).upstream.at(0).deleted);
  s.Replace(kept, s.Manual(), kT0 + 3s);
  EXPECT_TRUE(s.v(s.jobs.ListDependencies(job.job_id)).upstream.empty());
}

// "cycle" and the pointer of an edit that is refused; "" = it is accepted.
inline std::string RefusalOf(UpstreamDriver& s, const StoredJob& job,
                             const JobDefinition& definition) {
  const auto edited = s.jobs.ReplaceJob(job.job_id, job.version, definition, {.now = kT0 + 1s});
  if (edited.ok()) return "";
  return std::string(DependencyCode(edited.error())) + " " + edited.error().pointer;
}

TYPED_TEST(UpstreamContract, JobsDoNotWaitForEachOtherInACircle) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Waiting(s.Manual(), "a"));
  EXPECT_EQ(RefusalOf(s, a, s.Waiting(s.Manual(), "b")), "cycle /waits_for/0/job");
  EXPECT_EQ(RefusalOf(s, a, s.After("b")), "cycle /schedules/0/job");
  // A workflow that waits for one of its nodes.
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("b")}));
  EXPECT_EQ(RefusalOf(s, flow, s.Waiting(s.Flow({s.Node("b")}), "b")), "cycle /waits_for/0/job");
}

TYPED_TEST(UpstreamContract, ANodeDoesNotWaitForAJobThatStartsAfterItsWorkflow) {
  UpstreamDriver s = this->upstream_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const StoredJob b = s.v(s.jobs.GetJob(JobId("b")));
  s.Create("behind", s.After("flow"));
  // By the wait.
  const auto refused =
      s.jobs.ReplaceJob(b.job_id, b.version, s.Waiting(s.Manual(), "behind"), {.now = kT0 + 1s});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(DependencyCode(refused.error()), "cycle");
  EXPECT_EQ(refused.error().pointer, "/waits_for/0/job");
  EXPECT_EQ(DependencySentence(refused.error()),
            "The jobs would wait for each other without end: job -> flow -> job -> job.");
  // By the schedule.
  s.Create("late", s.Manual());
  s.Replace(b, s.Waiting(s.Manual(), "late"), kT0 + 1s);
  EXPECT_EQ(RefusalOf(s, s.v(s.jobs.GetJob(JobId("late"))), s.After("flow")),
            "cycle /schedules/0/job");
  const auto failures = s.After("flow", AfterOutcome::kFailure);
  EXPECT_EQ(RefusalOf(s, s.v(s.jobs.GetJob(JobId("late"))), failures), "");
  // By the node.
  const StoredJob other = s.CreateFlow(s.Flow({s.Node("x")}), "other");
  s.Create("last", s.After("other"));
  s.Create("c", s.Waiting(s.Manual(), "last"));
  EXPECT_EQ(RefusalOf(s, other, s.Flow({s.Node("x"), s.Node("c")})), "cycle /workflow/nodes/1/job");
  EXPECT_EQ(s.v(s.jobs.GetJob(JobId("other"))).version, other.version);
  EXPECT_EQ(s.v(s.jobs.ListDependencies(flow.job_id)).upstream.size(), 2u);
}

TYPED_TEST(UpstreamContract, AJobWithTimesAlsoRunsWithoutTheCircle) {
  UpstreamDriver s = this->upstream_driver();
  s.CreateFlow(s.Chain());
  JobDefinition behind = s.After("flow");
  behind.schedules.push_back({.kind = ScheduleKind::kRate, .every = 1h, .start = kT0});
  s.Create("behind", behind);
  EXPECT_EQ(RefusalOf(s, s.v(s.jobs.GetJob(JobId("b"))), s.Waiting(s.Manual(), "behind")), "");
  // Without its times it would have no other runs.
  EXPECT_EQ(RefusalOf(s, s.v(s.jobs.GetJob(JobId("behind"))), s.After("flow")),
            "cycle /schedules/0/job");
}

TYPED_TEST(UpstreamContract, ANewWorkflowDoesNotWaitForWhatItsNodesLeadTo) {
  UpstreamDriver s = this->upstream_driver();
  s.Create("a", s.Manual());
  s.Create("job", s.Waiting(s.Manual(), "a"));
  const JobDefinition flow = s.Waiting(s.Flow({s.Node("a")}), "job");
  const auto created = s.jobs.CreateJob(JobId("flow"), flow, {.now = kT0});
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(DependencyCode(created.error()), "cycle");
  EXPECT_EQ(created.error().pointer, "/waits_for/0/job");
  EXPECT_EQ(DependencySentence(created.error()),
            "The jobs would wait for each other without end: flow -> job -> job -> flow.");
  const auto many = s.jobs.CreateJobs({{JobId("flow"), flow}}, {.now = kT0});
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(DependencyCode(many.error()), "cycle");
}

}  // namespace carillon::test
