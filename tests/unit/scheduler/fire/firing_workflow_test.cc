// The firing loop, with due runs of workflows and of their nodes.
#include "common/domain/workflow/node_rules.h"
#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringWorkflowTest : public FiringLoopTest {
 protected:
  FiringWorkflowTest() {
    begin_workflow_ = [this](const PendingRun& run, const JobDefinition&) {
      begun_.push_back(run.key);
    };
  }
  StoredJob Flow(int64_t queue_timeout_s = 0) {
    JobDefinition flow;
    flow.type = JobType::kWorkflow;
    flow.queue_timeout_s = queue_timeout_s;
    flow.workflow = WorkflowDefinition{.nodes = {{.id = "a", .job = Shell("node").job_id}}};
    return CreateJob("flow", flow);
  }

  std::vector<RunKey> begun_;
};

TEST_F(FiringWorkflowTest, ADueRunIsHandedOverWithoutAnExecutor) {
  const PendingRun run = Pending(Flow(), 1ms);
  Feed({run});
  Step(10ms);
  EXPECT_EQ(begun_, std::vector<RunKey>{run.key});
  EXPECT_TRUE(Tasks().empty());
}

TEST_F(FiringWorkflowTest, OneThatWaitedTooLongIsSkipped) {
  PendingRun run = Pending(Flow(1), 1ms);
  clock_.Advance(5s);
  Feed({run});
  Step(10ms);
  EXPECT_TRUE(begun_.empty());
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kQueueTimeout);
}

TEST_F(FiringWorkflowTest, OneThatGrewTooOldInAPauseIsJudgedAfterIt) {
  Pause();
  PendingRun run = Pending(Flow(1), 1ms);
  clock_.Advance(5s);
  Feed({run});
  Step(10ms);
  EXPECT_TRUE(begun_.empty());
  EXPECT_TRUE(Skips().empty());
  Pause(false);
  Step(3s);     // it is forgotten
  Feed({run});  // as the sweep does
  Step(10ms);
  EXPECT_EQ(Skips().size(), 1u);
}

TEST_F(FiringWorkflowTest, TextFromOutsideBecomesNoCommand) {
  JobDefinition job;
  job.command = "echo {{params.path}}";
  job.parameters["path"] = std::string("here");
  const StoredJob stored = CreateJob("job", job);
  const auto run_with = [&](const std::string& parameters) {
    PendingRun run = Pending(stored, 1ms);
    run.kind = RunKind::kWorkflow;
    auto extras = std::make_shared<RunExtras>();
    extras->request_loaded = true;
    extras->request.parameters_json = parameters;
    run.extras = extras;
    return run;
  };
  Beat("x1", 4);
  Feed({run_with(R"({"path": "there", "$untrusted": ["path"]})"), run_with(R"({"path": "there"})"),
        run_with(R"({"path": [1]})")});
  Step(10ms);
  const std::vector<TaskMessage> tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].command, "echo there");
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 2u);
  EXPECT_EQ(skips[0].reason, reason::kUnsafeParameter);
  EXPECT_EQ(skips[1].reason, reason::kBadDefinition);
}

// An edit of parameters alone keeps the schedule, and a run that started before has no output.
TEST_F(FiringWorkflowTest, NoRunGoesOnWithAPlaceholderOfAnOutput) {
  JobDefinition job;
  job.command = "true";
  job.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "up"}};
  job.schedules[0].parameters["rows"] = std::string("{{trigger.outputs.rows}}");
  CreateJob("up", {.command = "true"});
  const StoredJob stored = CreateJob("job", job);
  const auto run_with = [&](Duration later, const std::string& parameters) {
    PendingRun run = Pending(stored, later);
    run.key.schedule_id = stored.schedules[0].schedule_id;
    run.kind = RunKind::kAfter;
    auto extras = std::make_shared<RunExtras>();
    extras->request_loaded = true;
    extras->request.parameters_json = parameters;
    extras->request.trigger = RunTrigger{.run = run.key, .job_id = JobId("up")};
    run.extras = extras;
    return run;
  };
  Beat("x1", 4);
  Feed({run_with(1ms, ""), run_with(2ms, R"({"rows": "12", "$untrusted": ["rows"]})")});
  Step(10ms);
  const std::vector<TaskMessage> tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].env.at("CARILLON_PARAM_ROWS"), "12");
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kBadDefinition);
}

// A job that is older than the rule, or was edited after the parameters were given.
TEST_F(FiringWorkflowTest, NoValueIsLostBetweenNamesThatDifferByCase) {
  JobDefinition job;
  job.command = "true";
  job.parameters["Day"] = int64_t{1};
  const StoredJob stored = CreateJob("job", job);
  PendingRun run = Pending(stored, 1ms);
  auto extras = std::make_shared<RunExtras>();
  extras->request_loaded = true;
  extras->request.parameters_json = R"({"day": 2})";
  run.extras = extras;
  Beat("x1", 4);
  Feed({run});
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kBadDefinition);
  EXPECT_EQ(skips[0].error,
            "'day' differs from 'Day' only by case; both would be CARILLON_PARAM_DAY");
}

}  // namespace
}  // namespace carillon::scheduler
