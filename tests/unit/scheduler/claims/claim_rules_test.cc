// Claims of runs of nodes, which have rules of their own or run a task of their workflow.
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"
#include "tests/unit/scheduler/claims/claim_fixture.h"

namespace carillon::scheduler {
namespace {

class ClaimRulesTest : public ClaimApplierTest {
 protected:
  ClaimRulesTest() {
    executors_.Accept({.id = kHolder.executor,
                       .incarnation = kHolder.incarnation,
                       .labels = {{"zone", "b"}},
                       .slots = 4},
                      clock_.Steady());
    Beat({Feature::kSecrets, Feature::kShards});
  }
  static WorkflowNode NodeOf(const std::string& id, const RunRules& rules) {
    return {.id = id, .job = JobId("x"), .rules = rules};
  }
  static WorkflowNode TaskOf(const std::string& id, JobDefinition task) {
    task.command = "true";
    return {.id = id, .task = TaskBox(std::move(task))};
  }
  // Begins a run of this workflow; its nodes are released. Job x runs where `of_job` says.
  void BeginFlow(std::vector<WorkflowNode> nodes, JobDefinition of_job = {}) {
    of_job.command = "true";
    CreateJob("x", of_job);
    JobDefinition flow;
    flow.type = JobType::kWorkflow;
    flow.user_id = "anna";
    flow.workflow = WorkflowDefinition{.nodes = std::move(nodes)};
    const RunRow own = Execute(CreateJob("flow", flow));
    own_ = own.key;
    const Fence fence = table_.View()->FenceFor({own.segment});
    const auto begun = stores_.workflows.Begin(
        {.key = own.key, .segment = own.segment, .job_no = own.job_no, .def_version = 1}, fence,
        clock_.Wall());
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    ASSERT_EQ(begun->verdict, ClaimVerdict::kAccepted);
    ASSERT_TRUE(
        stores_.workflows.Step({{.run = begun->run, .segment = own.segment}}, fence, clock_.Wall())
            .ok());
  }
  RunRow NodeRun(size_t position) {
    return stores_.workflows.GetWorkflowRun(own_)->nodes.at(position).detail.row;
  }
  ClaimBatchReply::Item ClaimOnce(const RunRow& row, uint64_t token = 1) {
    if (!applier_) applier_ = std::make_unique<ClaimApplier>(Make());
    Ask({WantingClaimOf(row, token)});
    clock_.Advance(1s);
    SampleClock();
    applier_->Step(clock_.Steady());
    const auto answers = Answers();
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() ? ClaimBatchReply::Item{} : answers.front();
  }

  RunKey own_;
  std::unique_ptr<ClaimApplier> applier_;
};

TEST_F(ClaimRulesTest, TheNodeSaysWhereItsRunGoesNotTheJob) {
  BeginFlow({NodeOf("job_says", {.timeout_s = 60}), NodeOf("any", {.executor_selector = ""}),
             NodeOf("here", {.executor_id = "x1"}), NodeOf("there", {.executor_id = "x2"}),
             NodeOf("zone", {.executor_selector = "zone=b"})},
            {.executor_selector = "zone=a"});
  const auto verdicts = [&] {
    std::vector<std::string> all;
    for (size_t i = 0; i < 5; ++i) {
      const auto answer = ClaimOnce(NodeRun(i), i + 1);
      all.emplace_back(answer.verdict == ClaimVerdict::kAccepted ? "accepted"
                                                                 : Name(answer.reason));
    }
    return all;
  };
  EXPECT_EQ(verdicts(), (std::vector<std::string>{"wrong_executor", "accepted", "accepted",
                                                  "wrong_executor", "accepted"}));
}

TEST_F(ClaimRulesTest, ATaskIsForItsExecutorsAndHasItsSecretsAlone) {
  PutSecret("db", "value of db");
  PutSecret("mail", "value of mail");
  Beat({Feature::kSecrets});
  JobDefinition load;
  load.env = {{"PASSWORD", "{{secrets.db}}"}};
  JobDefinition send;
  send.env = {{"PASSWORD", "{{secrets.mail}}"}};
  send.executor_selector = "zone=a";
  BeginFlow({TaskOf("load", load), TaskOf("send", send)});
  ASSERT_EQ(NodeRun(0).job_no, TaskJobOf(stores_.runs.GetRun(own_)->row.job_no));
  executors_.Refresh({{.id = kHolder.executor, .labels = {{"zone", "b"}}}});
  const auto loaded = ClaimOnce(NodeRun(0));
  EXPECT_EQ(loaded.verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(loaded.secrets, (std::map<std::string, std::string>{{"db", "value of db"}}));
  const auto refused = ClaimOnce(NodeRun(1), 2);
  EXPECT_EQ(refused.reason, ClaimReason::kWrongExecutor);
  EXPECT_TRUE(refused.secrets.empty());
  executors_.Refresh({{.id = kHolder.executor, .labels = {{"zone", "a"}}}});
  EXPECT_EQ(ClaimOnce(NodeRun(1), 3).secrets.count("mail"), 1u);
}

TEST_F(ClaimRulesTest, AMemberThatNeverDispatchedTheRunReadsTheRulesOncePerBatch) {
  BeginFlow({NodeOf("a", {.executor_id = "x2"}), NodeOf("b", {.executor_id = "x1"})});
  applier_ = std::make_unique<ClaimApplier>(Make());
  Ask({ClaimOf(NodeRun(0), 1), ClaimOf(NodeRun(1), 2)});
  clock_.Advance(1s);
  SampleClock();
  applier_->Step(clock_.Steady());
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].reason, ClaimReason::kWrongExecutor);
  EXPECT_EQ(answers[1].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(faults_.plan.calls("LoadRunRules"), 1);
  // Runs that are no node's cost no read.
  Ask({ClaimOf(Execute(CreateNoop("plain")), 3)});
  clock_.Advance(1s);
  SampleClock();
  applier_->Step(clock_.Steady());
  EXPECT_EQ(Answers().size(), 1u);
  EXPECT_EQ(faults_.plan.calls("LoadRunRules"), 1);
}

TEST_F(ClaimRulesTest, WithoutTheRulesThereIsNoAnswer) {
  BeginFlow({NodeOf("a", {.executor_id = "x1"})});
  faults_.plan.Arm("LoadRunRules", test::Fault::kUnavailable);
  applier_ = std::make_unique<ClaimApplier>(Make());
  Ask({ClaimOf(NodeRun(0), 1)});
  clock_.Advance(1s);
  SampleClock();
  applier_->Step(clock_.Steady());
  EXPECT_TRUE(Answers().empty());
  EXPECT_EQ(NodeRun(0).state, RunState::kPending);
}

// Whoever waits for a person has no process, whatever the claim says.
TEST_F(ClaimRulesTest, NobodyClaimsAnApproval) {
  WorkflowNode gate{.id = "gate", .approval = Approval{.message = "go?"}};
  BeginFlow({gate, TaskOf("load", {})});
  const RunRow open = NodeRun(0);
  EXPECT_EQ(open.due, kUndecided);
  const auto refused = ClaimOnce(open);
  EXPECT_EQ(refused.verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(NodeRun(0).state, RunState::kPending);
}

}  // namespace
}  // namespace carillon::scheduler
