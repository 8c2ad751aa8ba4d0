// The firing loop, with runs of nodes that have rules of their own or no job.
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"
#include "scheduler/fire/task_builder.h"
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringNodesTest : public FiringLoopTest {
 protected:
  FiringNodesTest() {
    begin_workflow_ = [this](const PendingRun& run, const JobDefinition& job) {
      begun_.push_back({run, job});
    };
  }
  // Its node 0 is a task, node 1 an approval, node 2 another task.
  StoredJob Flow() {
    JobDefinition task;
    task.command = "load {{params.file}}";
    task.timeout_s = 77;
    JobDefinition other;
    other.command = "other";
    JobDefinition flow;
    flow.type = JobType::kWorkflow;
    flow.workflow = WorkflowDefinition{.nodes = {{.id = "load", .task = TaskBox(task)},
                                                 {.id = "gate", .approval = Approval{}},
                                                 {.id = "other", .task = TaskBox(other)}}};
    return CreateJob("flow", flow);
  }
  // The released run of a node, as the parameter loader hands it over.
  PendingRun NodeRun(const StoredJob& job, JobNo job_no, size_t position, RunRequest request) {
    PendingRun run = Pending(job, 1ms);
    run.key = NodeKey(run.key.fire, {.workflow_run_no = 7, .position = position}).value();
    run.job_no = job_no;
    run.kind = RunKind::kWorkflow;
    run.flags = run_flag::kNode | run_flag::kHasRequest;
    if (!request.rules.empty()) run.flags |= run_flag::kRules;
    const std::string rules = request.rules;
    run.extras = std::make_shared<const RunExtras>(
        RunExtras{.request_loaded = true, .request = std::move(request), .rules = rules});
    return run;
  }
  void BeatWithShards() {
    Beat("x1", 4);
    executors_.HeartbeatFrom(
        ExecutorId("x1"), Incarnation("e1"),
        {.free_slots = 4, .free_light_slots = 100, .features = Features{Feature::kShards}},
        clock_.Wall(), clock_.Steady());
  }
  PendingRun TaskRun(const StoredJob& flow, size_t position, RunRequest request) {
    return NodeRun(flow, TaskJobOf(flow.job_no), position, std::move(request));
  }

  std::vector<std::pair<PendingRun, JobDefinition>> begun_;
};

TEST_F(FiringNodesTest, ATaskGoesOutWithTheTextOfItsNode) {
  const StoredJob flow = Flow();
  Beat("x1", 4);
  Feed({TaskRun(flow, 0,
                {.parameters_json = R"({"file":"a.csv"})",
                 .rules = "type=shell;timeout=77",
                 .node = "load"})});
  Step(10ms);
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].command, "load a.csv");
  EXPECT_EQ(tasks[0].timeout_s, 77);
  EXPECT_EQ(tasks[0].job_id, JobId("flow"));
  EXPECT_EQ(tasks[0].job_no, TaskJobOf(flow.job_no));
  EXPECT_EQ(tasks[0].env.at("CARILLON_NODE"), "load");
  EXPECT_EQ(tasks[0].env.at("CARILLON_JOB_ID"), "flow");
  EXPECT_TRUE(begun_.empty()) << "it would begin the workflow once more";
}

TEST_F(FiringNodesTest, TheRulesOfTheRunGoBeforeThoseOfItsJob) {
  JobDefinition definition;
  definition.timeout_s = 5;
  definition.executor_selector = "zone=a";
  const StoredJob job = Shell("job", definition);
  Beat("x1", 4, 100, {{"zone", "a"}});
  Beat("x2", 4, 100, {{"zone", "b"}});
  Feed({NodeRun(job, job.job_no, 0, {.rules = "timeout=60;executor_selector=zone=b"}),
        NodeRun(job, job.job_no, 1, {})});
  Step(10ms);
  const auto tasks = Tasks("x2");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].timeout_s, 60);
}

TEST_F(FiringNodesTest, ARunWhoseRulesAreNotKnownStartsNowhere) {
  const StoredJob job = Shell("job");
  Beat("x1", 4);
  PendingRun unknown = NodeRun(job, job.job_no, 0, {});
  unknown.flags |= run_flag::kRules;
  Feed({unknown, NodeRun(job, job.job_no, 1, {.rules = "of_tomorrow=1"})});
  Step(10ms);
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_TRUE(Skips().empty()) << "a version that can read them goes on";
  EXPECT_EQ(metrics_.counter("carillon_runs_waiting_total", "unreadable_definition").value(), 2u);
}

TEST_F(FiringNodesTest, RulesAreReadWithTheParameters) {
  const StoredJob job = Shell("job");
  Beat("x1", 4);
  PendingRun run = NodeRun(job, job.job_no, 0, {});
  run.flags = run_flag::kRules;
  run.extras = nullptr;
  Feed({run});
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_EQ(loads_.PopUpTo(10).size(), 1u);
}

// It waits for a person. Were it due by a mistake, an executor would approve it.
TEST_F(FiringNodesTest, AnApprovalIsNeverSentToAnExecutor) {
  const StoredJob flow = Flow();
  Beat("x1", 4);
  Feed({TaskRun(flow, 1, {.rules = "type=approval", .node = "gate"})});
  Step(10ms);
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_TRUE(begun_.empty());
  EXPECT_TRUE(Skips().empty());
}

TEST_F(FiringNodesTest, AMappedNodeBeginsWithAPartForEachItem) {
  const StoredJob flow = Flow();
  BeatWithShards();
  Feed({TaskRun(flow, 2, {.rules = "type=shell;items=3;as=file", .node = "other"}),
        TaskRun(flow, 0, {.rules = "type=shell;items=0;as=file", .node = "load"})});
  Step(10ms);
  ASSERT_EQ(begun_.size(), 2u);
  for (const auto& [run, job] : begun_) {
    EXPECT_TRUE(FansOut(job));
    const bool none = run.extras->rules.find("items=0") != std::string::npos;
    const Definition definition({.job_no = run.job_no, .definition = job}, nullptr,
                                RunRulesFromText(run.extras->rules).value());
    const auto places = PlacesByTemplate(run, definition);
    ASSERT_TRUE(places.has_value());
    EXPECT_EQ(places->total, none ? 0u : 3u);
    EXPECT_EQ(places->refusal, none ? reason::kZeroShards : std::string_view());
  }
  EXPECT_TRUE(Tasks().empty());
}

TEST_F(FiringNodesTest, APartHasItsItemAsAParameter) {
  const StoredJob flow = Flow();
  BeatWithShards();
  const RunRequest request{.parameters_json = R"({"day":"mon","$items":["a.csv","b.csv"]})",
                           .rules = "type=shell;items=2;as=file",
                           .node = "load"};
  std::vector<PendingRun> parts;
  for (const uint32_t shard : {2u, 3u}) {
    PendingRun part = TaskRun(flow, 0, request);
    part.key.shard = shard;
    part.kind = RunKind::kShard;
    part.flags = run_flag::kPart | run_flag::kHasRequest | run_flag::kRules;
    part.shard_total = 2;
    parts.push_back(part);
  }
  Feed(parts);
  Step(10ms);
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key.shard, 2u);
  EXPECT_EQ(tasks[0].command, "load b.csv");
  EXPECT_EQ(tasks[0].env.at("CARILLON_PARAM_FILE"), "b.csv");
  EXPECT_EQ(tasks[0].env.at("CARILLON_PARAM_DAY"), "mon");
  EXPECT_EQ(tasks[0].env.count("CARILLON_PARAM_$ITEMS"), 0u);
  const auto skips = Skips();
  ASSERT_EQ(skips.size(), 1u) << "there is no third item";
  EXPECT_EQ(skips[0].key.shard, 3u);
  EXPECT_EQ(skips[0].reason, reason::kBadDefinition);
}

TEST_F(FiringNodesTest, AnItemFromOutsideBecomesNoCommand) {
  const StoredJob flow = Flow();
  BeatWithShards();
  PendingRun part =
      TaskRun(flow, 0,
              {.parameters_json = R"({"$untrusted":["file"],"$items":["a; rm -rf /"]})",
               .rules = "type=shell;items=1;as=file",
               .node = "load"});
  part.key.shard = 1;
  part.kind = RunKind::kShard;
  part.flags = run_flag::kPart | run_flag::kHasRequest | run_flag::kRules;
  Feed({part});
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  const auto skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kUnsafeParameter);
}

}  // namespace
}  // namespace carillon::scheduler
