// The row of `jobs` for the nodes of a workflow that have no job: nothing lists it, and its runs
// are shown as those of the workflow.
#include <fmt/core.h>

#include <functional>

#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"
#include "tests/infra/mysql/store_reads.h"

namespace carillon::test {
namespace {

JobDefinition Task(const std::string& group = "") {
  return {.command = "true", .concurrency_group = group};
}

JobDefinition Flow(std::vector<WorkflowNode> nodes) {
  JobDefinition definition;
  definition.name = "flow";
  definition.type = JobType::kWorkflow;
  definition.workflow = WorkflowDefinition{.nodes = std::move(nodes)};
  return definition;
}

JobDefinition FlowOfTasks() {
  return Flow({{.id = "load", .task = TaskBox(Task())},
               {.id = "gate", .approval = Approval{}, .after = {{.node = "load"}}}});
}

// Calls of the store beside plain SQL.
class TaskRowsTest : public StoreLimitsTest {
 protected:
  void SetUp() override { outside_ = database_.Connect(); }

  std::vector<std::string> Row(const std::string& columns, JobNo job_no) {
    auto rows = StoreDriver::v(
        outside_->Query("SELECT " + columns + " FROM jobs WHERE job_no = ?", {job_no.value()}));
    std::vector<std::string> values;
    if (!rows.Next()) return values;
    const size_t count = std::count(columns.begin(), columns.end(), ',') + 1u;
    for (uint32_t i = 1; i <= count; ++i) values.push_back(rows.Text(i));
    return values;
  }
  std::vector<std::string> Moved(JobNo job_no) {
    return Row("segment, name, namespace, user_id, retention_days", job_no);
  }

  // Inserts the run of a node, as a begin and a release do.
  RunKey InsertRun(const StoredJob& flow, size_t position, RunState state,
                   const std::string& rules) {
    const RunKey key = StoreDriver::v(NodeKey(kT0, {.workflow_run_no = 1, .position = position}));
    const bool open = !IsFinal(state);
    const uint64_t segment = flow.segment.value();
    EXPECT_OK(outside_->Execute(
        "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
        "state, due_us, def_version, flags, rules, started_by) VALUES (?, ?, 0, ?, ?, ?, "
        "'WORKFLOW', ?, ?, ?, ?, NULLIF(?, ''), '')",
        {ToUnixMicros(key.fire), key.schedule_id.value(), TaskJobOf(flow.job_no).value(), segment,
         open ? mysql::Param(segment) : mysql::Param(nullptr), Name(state), ToUnixMicros(kT0),
         flow.version,
         uint64_t{run_flag::kNode | run_flag::kHasRequest | (rules.empty() ? 0 : run_flag::kRules)},
         rules}));
    return key;
  }

  std::unique_ptr<mysql::Session> outside_;
};

TEST_F(TaskRowsTest, AWorkflowGetsTheRowWithItsFirstNodeWithoutAJob) {
  StoreDriver s = driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob flow = s.Create("flow", Flow({{.id = "a", .job = a.job_id}}));
  const JobNo tasks = TaskJobOf(flow.job_no);
  EXPECT_TRUE(Row("job_id", tasks).empty());
  const StoredJob edited = s.Replace(flow, FlowOfTasks(), kT0 + 1s);
  const std::string columns =
      "job_id, deleted, enabled, version, overlap_policy, group_no, retry_count";
  const std::vector<std::string> expected = {
      fmt::format(".{}", flow.job_no.value()), "2", "1", "1", "allow", "0", "0"};
  EXPECT_EQ(Row(columns, tasks), expected);
  EXPECT_EQ(Moved(tasks), Moved(flow.job_no));
  // It stays when no node needs it, for runs that have it.
  const StoredJob plain = s.Replace(edited, flow.definition, kT0 + 2s);
  EXPECT_EQ(Row(columns, tasks), expected);
  s.Replace(plain, FlowOfTasks(), kT0 + 3s);
  EXPECT_EQ(Row(columns, tasks), expected);
}

TEST_F(TaskRowsTest, NewWorkflowsHaveTheRowAtOnce) {
  StoreDriver s = driver();
  JobDefinition other = FlowOfTasks();
  other.retention_days = 7;
  const StoredJobs made = s.v(s.jobs.CreateJobs(
      {{JobId("plain"), s.Manual()}, {JobId("one"), FlowOfTasks()}, {JobId("two"), other}},
      {.now = kT0}));
  EXPECT_TRUE(Row("job_id", TaskJobOf(made[0].job_no)).empty());
  for (const size_t i : {1u, 2u}) {
    EXPECT_EQ(Row("deleted", TaskJobOf(made[i].job_no)), std::vector<std::string>{"2"});
    EXPECT_EQ(Moved(TaskJobOf(made[i].job_no)), Moved(made[i].job_no));
  }
  EXPECT_EQ(Row("retention_days", made[2].job_no), std::vector<std::string>{"7"});
}

TEST_F(TaskRowsTest, TheRowFollowsAMoveOfTheWorkflowAndNoOtherEdit) {
  StoreDriver s = driver();
  StoredJob flow = s.Create("flow", FlowOfTasks());
  const JobNo tasks = TaskJobOf(flow.job_no);
  const auto written = [&] { return Row("update_time", tasks); };
  const auto created = written();
  JobDefinition definition = FlowOfTasks();
  definition.description = "text";
  definition.priority = 7;
  flow = s.Replace(flow, definition, kT0 + 1s);
  s.Pause(flow, kT0 + 2s);
  flow = s.Resume(flow, kT0 + 3s);
  EXPECT_EQ(written(), created);
  EXPECT_EQ(Row("enabled, priority, version", tasks), (std::vector<std::string>{"1", "0", "1"}));
  const std::vector<std::function<void(JobDefinition&)>> moves = {
      [](JobDefinition& job) { job.name = "flow "; },
      [](JobDefinition& job) { job.name_space = "team"; },
      [](JobDefinition& job) { job.user_id = "anna"; },
      [](JobDefinition& job) { job.retention_days = 5; }};
  WallTime now = kT0 + 4s;
  for (const auto& move : moves) {
    const auto before = written();
    move(definition);
    flow = s.Replace(flow, definition, now += 1s);
    EXPECT_EQ(Moved(tasks), Moved(flow.job_no));
    EXPECT_NE(written(), before);
  }
}

// The claim of a task has the row in share mode.
TEST_F(TaskRowsTest, AnEditDoesNotWaitForClaimsOfTasks) {
  StoreDriver s = driver();
  StoredJob flow = s.Create("flow", FlowOfTasks());
  ASSERT_OK(LetIdleInTransactions(*outside_));
  ASSERT_OK(outside_->Begin());
  ASSERT_OK(outside_->Query("SELECT 1 FROM jobs WHERE job_no = ? LOCK IN SHARE MODE",
                            {TaskJobOf(flow.job_no).value()}));
  JobDefinition definition = FlowOfTasks();
  definition.description = "text";
  EXPECT_EQ(s.Replace(flow, definition, kT0 + 1s).version, 2);
  ASSERT_OK(outside_->Rollback());
}

TEST_F(TaskRowsTest, NothingListsOrFindsTheRow) {
  StoreDriver s = driver();
  JobDefinition definition = FlowOfTasks();
  definition.name_space = "team";
  const StoredJob flow = s.Create("flow", definition);
  const JobId hidden("." + std::to_string(flow.job_no.value()));
  const auto ids = [](const std::vector<StoredJob>& jobs) {
    std::vector<std::string> found;
    for (const StoredJob& job : jobs) found.push_back(job.job_id.value());
    return found;
  };
  const std::vector<std::string> only = {"flow"};
  const std::vector<JobFilter> filters = {{},
                                          {.enabled = true},
                                          {.user_id = ""},
                                          {.namespaces = {"team"}},
                                          {.namespaces = {"team", "default"}},
                                          {.name = "flow"},
                                          {.name_contains = "flow"},
                                          {.namespaces = {"team"}, .name_contains = "low"},
                                          {.unreadable = true}};
  for (size_t i = 0; i < filters.size(); ++i) {
    for (const JobOrder order :
         {JobOrder::kJobId, JobOrder::kName, JobOrder::kCreated, JobOrder::kUpdated}) {
      for (const bool descending : {false, true}) {
        JobFilter filter = filters[i];
        filter.order = order;
        filter.descending = descending;
        EXPECT_EQ(ids(s.v(s.jobs.ListJobs(filter)).jobs), only)
            << i << " " << static_cast<int>(order) << descending;
      }
    }
    EXPECT_EQ(s.v(s.jobs.CountJobs(filters[i])).seen, 1u) << i;
  }
  EXPECT_TRUE(s.v(s.jobs.ListJobs({.type = JobType::kNoop})).jobs.empty());
  const FoundJobs found = s.v(s.jobs.FindJobs({.ids = {}, .names = {{"team", "flow"}}}));
  EXPECT_EQ(ids(found.jobs), only);
  EXPECT_EQ(s.v(s.jobs.ListNamespaces("", 9)), std::vector<std::string>{"team"});
  EXPECT_EQ(s.v(s.jobs.CountNamespaces()).seen, 1u);
  EXPECT_CODE(s.jobs.GetJob(hidden), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.GetJobHead(hidden), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.ListDependencies(hidden), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.PauseJob(hidden, "", {.now = kT0}), ErrorCode::kNotFound);
  EXPECT_CODE(s.jobs.DeleteJob(hidden, 1, {.now = kT0}), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.ExecuteJob({.job_id = hidden}, {.now = kT0}), ErrorCode::kNotFound);
  EXPECT_TRUE(s.v(s.runs.ListRecentRuns({.job_ids = {hidden}, .until = kT0})).empty());
}

TEST_F(TaskRowsTest, TheNamespaceOfAMovedWorkflowIsGoneWithIt) {
  StoreDriver s = driver();
  JobDefinition definition = FlowOfTasks();
  definition.name_space = "team";
  const StoredJob flow = s.Create("flow", definition);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 1s}));
  EXPECT_TRUE(s.v(s.jobs.ListNamespaces("", 9)).empty());
  EXPECT_EQ(Row("deleted", TaskJobOf(flow.job_no)), std::vector<std::string>{"2"});
}

TEST_F(TaskRowsTest, ATaskIsExecutedByTheVersionOfItsWorkflow) {
  StoreDriver s = driver();
  JobDefinition definition = FlowOfTasks();
  definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
  const StoredJob flow = s.Create("flow", definition);
  JobDefinition other = definition;
  other.workflow->nodes[0].task = TaskBox(JobDefinition{.command = "false"});
  s.Replace(flow, other, kT0 + 1s);
  const JobNo tasks = TaskJobOf(flow.job_no);
  const auto found = s.v(s.firing.LoadDefinitions(
      {{tasks, 1}, {tasks, 2}, {tasks, 3}, {flow.job_no, 2}, {TaskJobOf(JobNo(99)), 1}}));
  std::map<JobVersionKey, JobVersionRecord> by_key;
  for (const JobVersionRecord& one : found) by_key[{one.job_no, one.version}] = one;
  ASSERT_EQ(by_key.size(), 3u);
  EXPECT_EQ(by_key.at({tasks, 1}).definition, definition);
  EXPECT_EQ(by_key.at({tasks, 2}).definition, other);
  EXPECT_EQ(by_key.at({tasks, 2}).job_id, flow.job_id);
  EXPECT_TRUE(by_key.at({tasks, 2}).schedule_ids.empty());
  EXPECT_EQ(by_key.at({flow.job_no, 2}).schedule_ids.size(), 1u);
}

TEST_F(TaskRowsTest, RunsOfTasksAreShownAsThoseOfTheWorkflow) {
  StoreDriver s = driver();
  JobDefinition definition = FlowOfTasks();
  definition.labels = {{"team", "etl"}};
  const StoredJob flow = s.Create("flow", definition);
  definition.name = "renamed";
  s.Replace(flow, definition, kT0 + 1s);
  const RunKey task = InsertRun(flow, 0, RunState::kPending, ToText(RunRules{.type = "http"}));
  const RunKey gate = InsertRun(flow, 1, RunState::kPending, ToText(RunRules{.type = "approval"}));
  const RunKey early = InsertRun(flow, 2, RunState::kPending, "");
  EXPECT_EQ(s.Get(task).job_id, flow.job_id);
  EXPECT_EQ(s.Get(task).job_name, "flow");
  EXPECT_EQ(Name(s.Get(task).job_type), "http");
  EXPECT_EQ(Name(s.Get(gate).job_type), "noop");
  EXPECT_EQ(Name(s.Get(early).job_type), "noop");
  const auto count = [&](const RunFilter& filter) {
    const size_t listed = s.v(s.runs.ListRuns(filter, kT0 + 1h)).runs.size();
    EXPECT_EQ(s.v(s.runs.CountRuns(filter, kT0 + 1h)).seen, listed);
    return listed;
  };
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({.job_id = flow.job_id}), 0u);
  EXPECT_EQ(count({.name_contains = "renamed"}), 3u);
  EXPECT_EQ(count({.name_contains = "." + std::to_string(flow.job_no.value())}), 0u);
  EXPECT_EQ(count({.labels = {{"team", {"etl"}}}}), 3u);
  EXPECT_EQ(count({.labels = {{"team", {"web"}}}}), 0u);
  EXPECT_EQ(count({.namespaces = {"default"}}), 3u);
}

TEST_F(TaskRowsTest, ANoticeOfATaskIsReadAndIsForNobody) {
  StoreDriver s = driver();
  const StoredJob flow = s.Create("flow", FlowOfTasks());
  const RunKey task = InsertRun(flow, 0, RunState::kFailed, ToText(RunRules{.type = "shell"}));
  const uint64_t segment = flow.segment.value();
  ASSERT_OK(outside_->Execute(
      "INSERT INTO notices (segment, open_segment, kind, job_no, fire_us, schedule_id, state, "
      "reason, fires, until_us, created_us) VALUES (?, ?, 'late', ?, ?, ?, 'RUNNING', '', 1, 0, ?)",
      {segment, segment, TaskJobOf(flow.job_no).value(), ToUnixMicros(task.fire),
       task.schedule_id.value(), ToUnixMicros(kT0)}));
  const auto open = s.v(s.notices.ScanNotices(s.All(), 9));
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].rules, (NotifyRules{.on = std::vector<NoticeKind>{}}));
}

TEST_F(TaskRowsTest, OpenRunsOfTasksAskTheFormerOwnerOfTheirWorkflow) {
  StoreDriver s = driver();
  JobDefinition definition = FlowOfTasks();
  definition.user_id = "anna";
  StoredJob flow = s.Create("flow", definition);
  const RunKey open = InsertRun(flow, 0, RunState::kPending, ToText(RunRules{.type = "shell"}));
  const RunKey ended = InsertRun(flow, 1, RunState::kCompleted, ToText(RunRules{.type = "shell"}));
  definition.description = "text";
  flow = s.Replace(flow, definition, kT0 + 1s);
  EXPECT_EQ(s.Get(open).row.flags & run_flag::kOnBehalf, 0u);
  definition.user_id = "ben";
  s.Replace(flow, definition, kT0 + 2s);
  EXPECT_NE(s.Get(open).row.flags & run_flag::kOnBehalf, 0u);
  EXPECT_EQ(s.Get(ended).row.flags & run_flag::kOnBehalf, 0u);
}

TEST_F(TaskRowsTest, AGroupThatANodeNamesIsUsedByTheWorkflow) {
  StoreDriver s = driver();
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  s.v(s.groups.PutGroup("disk", {.limit = 1}, kT0));
  const StoredJob a = s.Create("a", s.Manual());
  const auto flow_of = [&](const std::string& of_node, const std::string& of_task) {
    return Flow({{.id = "a", .job = a.job_id, .rules = {.concurrency_group = of_node}},
                 {.id = "b", .task = TaskBox(Task(of_task))}});
  };
  const auto jobs_of = [&](const std::string& group) {
    return s.v(s.groups.GetGroup(group, 9, kT0)).group.jobs;
  };
  StoredJob flow = s.Create("flow", flow_of("db", "disk"));
  s.v(s.jobs.CreateJobs({{JobId("other"), flow_of("db", "db")}}, {.now = kT0}));
  EXPECT_EQ(jobs_of("db"), 2);
  EXPECT_EQ(jobs_of("disk"), 1);
  const auto refused = s.groups.DeleteGroup("disk");
  EXPECT_CODE(refused, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("workflow flow"), std::string::npos);
  flow = s.Replace(flow, flow_of("db", ""), kT0 + 1s);
  EXPECT_EQ(jobs_of("disk"), 0);
  EXPECT_OK(s.groups.DeleteGroup("disk"));
  // A group that is not there.
  for (const auto& [wanted, pointer] :
       {std::pair(flow_of("disk", ""), "/workflow/nodes/0/concurrency_group"),
        std::pair(flow_of("", "disk"), "/workflow/nodes/1/task/concurrency_group")}) {
    const auto edited = s.jobs.ReplaceJob(flow.job_id, flow.version, wanted, {.now = kT0 + 2s});
    EXPECT_CODE(edited, ErrorCode::kInvalid);
    EXPECT_EQ(edited.error().pointer, pointer);
    EXPECT_CODE(s.jobs.CreateJob(JobId("new"), wanted, {.now = kT0 + 2s}), ErrorCode::kInvalid);
  }
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 3s}));
  EXPECT_EQ(jobs_of("db"), 1);
}

TEST_F(TaskRowsTest, AJobThatBecomesAWorkflowOfTasksUsesItsGroups) {
  StoreDriver s = driver();
  s.v(s.groups.PutGroup("db", {.limit = 1}, kT0));
  const StoredJob job = s.Create("flow", s.Manual());
  const StoredJob flow = s.Replace(job, Flow({{.id = "b", .task = TaskBox(Task("db"))}}), kT0 + 1s);
  EXPECT_EQ(s.v(s.groups.GetGroup("db", 9, kT0)).group.jobs, 1);
  s.Replace(flow, s.Manual(), kT0 + 2s);
  EXPECT_EQ(s.v(s.groups.GetGroup("db", 9, kT0)).group.jobs, 0);
}

// Runs of a job whose nodes name a group for them.
TEST_F(TaskRowsTest, AnEditOfItsJobsGroupLeavesARunWithAGroupOfItsOwn) {
  StoreDriver s = driver();
  const Fence fence = s.Take();
  for (const std::string group : {"db", "own"}) s.v(s.groups.PutGroup(group, {.limit = 1}, kT0));
  JobDefinition definition = s.Manual();
  definition.concurrency_group = "db";
  const StoredJob job = s.Create("a", definition);
  uint64_t token = 0;
  const auto offer = [&](const RunKey& key, const std::string& group) {
    ClaimRequest request = s.ClaimOf(s.Get(key).row, ++token);
    request.group = group;
    return s.Claim(request, fence, kT0 + 1s).verdict;
  };
  const auto run_of = [&](const RunRules& rules) {
    const RunKey key = s.Execute(job, kT0).key;
    EXPECT_OK(outside_->Execute(
        "UPDATE job_runs SET rules = ?, flags = flags | ? WHERE fire_us = ? AND schedule_id = ?",
        {ToText(rules), uint64_t{run_flag::kRules}, ToUnixMicros(key.fire),
         key.schedule_id.value()}));
    return key;
  };
  const RunRules own{.concurrency_group = "own"};
  EXPECT_EQ(offer(run_of(own), "own"), ClaimVerdict::kAccepted);
  EXPECT_EQ(offer(s.Execute(job, kT0).key, "db"), ClaimVerdict::kAccepted);
  const RunKey waits = run_of(own);
  const RunKey of_job = s.Execute(job, kT0).key;
  EXPECT_EQ(offer(waits, "own"), ClaimVerdict::kEnqueued);
  EXPECT_EQ(offer(of_job, "db"), ClaimVerdict::kEnqueued);
  definition.concurrency_group = "";
  s.Replace(job, definition, kT0 + 2s);
  EXPECT_EQ(s.Get(of_job).row.due, kT0 + 2s);
  EXPECT_EQ(s.Get(waits).row.due, kQueued);
  EXPECT_EQ(s.v(s.groups.GetGroup("own", 9, kT0)).queue.size(), 1u);
}

// The same reads as without the rows: they come before all ids, and are passed over by ranges.
TEST_F(StoreReadsTest, ManyRowsOfTasksCostListsOfJobsNothing) {
  constexpr int64_t kReadsMax = 1'500;
  StoreDriver s = driver();
  ASSERT_OK(outside_->Run(fmt::format(
      "INSERT INTO jobs (job_no, job_id, segment, version, manual_schedule_id, enabled, deleted, "
      "pause_reason, name, type, command, priority, timeout, retry_count, retry_interval, "
      "retry_backoff, retry_intervals, on_lost, overlap_policy, create_time, update_time, "
      "namespace) SELECT {} + 1000000 + seq, CONCAT('.', 1000000 + seq), 0, 1, 0, 1, {}, '', "
      "CONCAT('flow ', seq), 'noop', '', 0, 0, 0, 0, 'fixed', '', 'hold', 'allow', NOW(), NOW(), "
      "'team' FROM {} n",
      kFirstTaskJob, mysql::kTaskJobRow, Sequence(20'000))));
  ASSERT_OK(outside_->Ask("ANALYZE TABLE jobs"));
  for (const JobOrder order : {JobOrder::kJobId, JobOrder::kCreated, JobOrder::kUpdated}) {
    for (const bool descending : {false, true}) {
      for (const bool searches : {false, true}) {
        JobFilter filter{.order = order, .descending = descending, .limit = 5};
        if (searches) filter.enabled = true;
        JobPage page;
        const auto list = [&] { page = s.v(s.jobs.ListJobs(filter)); };
        list();
        EXPECT_LT(RowsRead(list), kReadsMax) << static_cast<int>(order) << descending << searches;
        EXPECT_EQ(page.jobs.size(), 5u);
      }
    }
  }
  const auto namespaces = [&] { s.v(s.jobs.ListNamespaces("", 51)); };
  namespaces();
  EXPECT_LT(RowsRead(namespaces), kReadsMax);
}

}  // namespace
}  // namespace carillon::test
