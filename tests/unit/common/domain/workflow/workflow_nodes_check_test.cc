// The checks of workflows whose nodes have tasks, rules, approvals, waits, lists and phases.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "common/domain/job/job_mistakes.h"
#include "common/domain/workflow/workflow_check.h"
#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

std::string PlacesOf(const WorkflowProblems& problems) {
  std::string text;
  for (const WorkflowProblem& problem : problems) {
    text += (text.empty() ? "" : ", ") + std::string(Name(problem.code)) + " " + problem.pointer;
    EXPECT_FALSE(problem.message.empty()) << text;
  }
  return text;
}

const std::set<std::string> kGivenNames{"list", "at"};

std::string PlacesIn(const WorkflowDefinition& workflow) {
  const WorkflowProblems problems = CheckWorkflow(workflow, {.parameters = &kGivenNames});
  if (problems.empty()) {
    EXPECT_TRUE(WorkflowGraph::Compile(workflow).ok());
  }
  return PlacesOf(problems);
}
std::string PlacesIn(std::vector<WorkflowNode> nodes) {
  return PlacesIn(WorkflowDefinition{.nodes = std::move(nodes)});
}

WorkflowNode TaskNode(std::string id, JobDefinition task, std::vector<WorkflowEdge> after = {}) {
  return {.id = std::move(id), .task = TaskBox(std::move(task)), .after = std::move(after)};
}

// A node that has what `set` says beside its job.
std::string WithJob(const std::function<void(WorkflowNode&)>& set) {
  WorkflowNode node = Node("a");
  set(node);
  return PlacesIn({node});
}

TEST(NodeCheckTest, ANodeHasExactlyOneKind) {
  EXPECT_EQ(PlacesIn({Node("a"), TaskNode("b", {.command = "true"}), Gate("c"),
                      Waits("d", {.for_s = 1})}),
            "");
  EXPECT_EQ(PlacesIn({WorkflowNode{.id = "a"}}), "bad_field /nodes/0/job");
  EXPECT_EQ(WithJob([](auto& n) { n.task = TaskBox(JobDefinition{.command = "true"}); }),
            "bad_field /nodes/0/task");
  EXPECT_EQ(WithJob([](auto& n) { n.approval = Approval{}; }), "bad_field /nodes/0/approval");
  EXPECT_EQ(WithJob([](auto& n) { n.wait = NodeWait{.for_s = 1}; }), "bad_field /nodes/0/wait");
}

TEST(NodeCheckTest, ATaskIsCheckedAsAJobIs) {
  const auto task = [](const JobDefinition& one) { return PlacesIn({TaskNode("a", one)}); };
  EXPECT_EQ(task({}), "bad_field /nodes/0/task/command");
  EXPECT_EQ(task({.command = "true", .timeout_s = 0}), "bad_field /nodes/0/task/timeout");
  EXPECT_EQ(task({.command = "true", .retry_on = {"never"}}), "bad_field /nodes/0/task/retry_on/0");
  EXPECT_EQ(task({.command = "true", .executor_selector = "="}),
            "bad_field /nodes/0/task/executor_selector");
  EXPECT_EQ(task({.command = "echo {{secrets.KEY}}"}), "bad_field /nodes/0/task/command");
  EXPECT_EQ(task({.command = "true", .description = "x"}), "bad_field /nodes/0/task/description");
  EXPECT_EQ(task({.type = JobType::kHttp}), "bad_field /nodes/0/task/http");
  JobDefinition bad_name{.command = "true"};
  bad_name.env = {{"1", "x"}};
  EXPECT_EQ(task(bad_name), "bad_field /nodes/0/task/env/1");
}

TEST(NodeCheckTest, AJobTellsTheMistakesOfItsTasks) {
  JobDefinition nightly{.name = "nightly", .type = JobType::kWorkflow};
  nightly.workflow = WorkflowDefinition{.nodes = {Node("a"), TaskNode("b", {.command = ""})}};
  const std::vector<Error> mistakes = FindMistakes(nightly);
  ASSERT_EQ(mistakes.size(), 1u);
  EXPECT_EQ(mistakes[0].pointer, "/workflow/nodes/1/task/command");
  EXPECT_EQ(ValidateJob(nightly).error().pointer, "/workflow/nodes/1/task/command");
}

TEST(NodeCheckTest, ATaskHasTheParametersOfItsNode) {
  WorkflowNode node = TaskNode("a", {.command = "load {{params.day}} {{params.file}}"});
  EXPECT_EQ(PlacesIn({node}), "bad_field /nodes/0/task/command, bad_field /nodes/0/task/command");
  node.parameters["day"] = std::string("{{fire_date}}");
  EXPECT_EQ(PlacesIn({node}), "bad_field /nodes/0/task/command");
  node.over = "{{workflow.parameters.list}}";
  node.as = "file";
  EXPECT_EQ(PlacesIn({node}), "");
}

TEST(NodeCheckTest, RulesStandWhereTheyHaveAnEffectAndWithinTheirBounds) {
  using Rules = RunRules;
  const auto rules = [](const Rules& one) {
    return WithJob([&](WorkflowNode& node) { node.rules = one; });
  };
  EXPECT_EQ(rules({.timeout_s = 1,
                   .retry_count = 100,
                   .retry_on = {{"exit:3"}},
                   .priority = 100,
                   .executor_id = "",
                   .concurrency_group = ""}),
            "");
  EXPECT_EQ(rules({.timeout_s = 0}), "bad_field /nodes/0/timeout");
  EXPECT_EQ(rules({.retry_count = 101}), "bad_field /nodes/0/retry_count");
  EXPECT_EQ(rules({.retry_interval_s = -1}), "bad_field /nodes/0/retry_interval");
  EXPECT_EQ(rules({.retry_intervals_s = {{1, 86'401}}}), "bad_field /nodes/0/retry_intervals/1");
  EXPECT_EQ(rules({.no_retry_on = {{"x"}}}), "bad_field /nodes/0/no_retry_on/0");
  EXPECT_EQ(rules({.priority = 101}), "bad_field /nodes/0/priority");
  EXPECT_EQ(rules({.executor_id = "-"}), "bad_field /nodes/0/executor_id");
  EXPECT_EQ(rules({.executor_id = "e1", .executor_selector = "zone=a"}),
            "bad_field /nodes/0/executor_selector");
  EXPECT_EQ(rules({.concurrency_group = "A"}), "bad_field /nodes/0/concurrency_group");
  EXPECT_EQ(rules({.type = "shell"}), "bad_field /nodes/0/type");
  EXPECT_EQ(rules({.items = 3}), "bad_field /nodes/0/items");
  for (WorkflowNode node :
       {TaskNode("a", {.command = "true"}), Gate("a"), Waits("a", {.for_s = 1})}) {
    node.rules.priority = 1;
    EXPECT_EQ(PlacesIn({node}), "bad_field /nodes/0/priority");
    node.rules.timeout_s = 60;
    EXPECT_EQ(PlacesIn({node}), "bad_field /nodes/0/timeout, bad_field /nodes/0/priority")
        << "all of them at once";
  }
}

TEST(NodeCheckTest, AnApprovalIsWithinItsBounds) {
  const auto gate = [](const Approval& one) { return PlacesIn({Gate("a", one)}); };
  EXPECT_EQ(gate({.message = "{{workflow.run_id}}", .timeout_s = 60, .by = {"user-1"}}), "");
  EXPECT_EQ(gate({.timeout_s = 604'800, .approves_on_timeout = true}), "");
  EXPECT_EQ(gate({.timeout_s = 59}), "bad_field /nodes/0/approval/timeout_s");
  EXPECT_EQ(gate({.timeout_s = 604'801}), "bad_field /nodes/0/approval/timeout_s");
  EXPECT_EQ(gate({.approves_on_timeout = true}), "bad_field /nodes/0/approval/on_timeout");
  EXPECT_EQ(gate({.message = std::string(1'001, 'x')}), "bad_field /nodes/0/approval/message");
  EXPECT_EQ(gate({.message = "{{none}}"}), "bad_template /nodes/0/approval/message");
  EXPECT_EQ(gate({.message = "{{nodes.b.state}}"}), "unknown_node /nodes/0/approval/message");
  EXPECT_EQ(gate({.by = {"a", "", "a", "b\n"}}),
            "bad_field /nodes/0/approval/by/1, bad_field /nodes/0/approval/by/2, "
            "bad_field /nodes/0/approval/by/3");
  std::vector<std::string> people;
  for (int i = 0; i < 21; ++i) people.push_back("user-" + std::to_string(i));
  EXPECT_EQ(gate({.by = people}), "bad_field /nodes/0/approval/by");
  WorkflowNode node = Gate("a");
  node.parameters["n"] = int64_t{1};
  EXPECT_EQ(PlacesIn({node}), "bad_field /nodes/0/parameters");
}

TEST(NodeCheckTest, AWaitHasATimeOrALength) {
  const auto wait = [](const NodeWait& one) { return PlacesIn({Waits("a", one)}); };
  EXPECT_EQ(wait({.until = "06:30", .day = 31}), "");
  EXPECT_EQ(wait({.until = "{{workflow.parameters.at}}"}), "");
  EXPECT_EQ(wait({.for_s = 604'800}), "");
  EXPECT_EQ(wait({}), "bad_field /nodes/0/wait/until");
  EXPECT_EQ(wait({.until = "06:30", .for_s = 1}), "bad_field /nodes/0/wait/for_s");
  EXPECT_EQ(wait({.until = "6:30"}), "bad_field /nodes/0/wait/until");
  EXPECT_EQ(wait({.until = "06:30", .day = 32}), "bad_field /nodes/0/wait/day");
  EXPECT_EQ(wait({.day = 1, .for_s = 5}), "bad_field /nodes/0/wait/day");
  EXPECT_EQ(wait({.for_s = 604'801}), "bad_field /nodes/0/wait/for_s");
  EXPECT_EQ(wait({.for_s = -1}), "bad_field /nodes/0/wait/for_s");
  EXPECT_EQ(wait({.until = "{{workflow.parameters.none}}"}), "bad_template /nodes/0/wait/until");
  EXPECT_EQ(wait({.until = "{{x}}"}), "bad_template /nodes/0/wait/until");
}

TEST(NodeCheckTest, AMappedNodeHasAListAndANameForTheItem) {
  const auto mapped = [](const std::string& over, const std::string& as,
                         const std::string& collect = "") {
    return WithJob([&](WorkflowNode& node) {
      node.over = over;
      node.as = as;
      node.collect = collect;
    });
  };
  EXPECT_EQ(mapped("{{workflow.parameters.list}}", "file", "rows"), "");
  EXPECT_EQ(mapped("{{workflow.parameters.list}}", ""), "bad_field /nodes/0/as");
  EXPECT_EQ(mapped("{{workflow.parameters.list}}", "1"), "bad_field /nodes/0/as");
  EXPECT_EQ(mapped("{{workflow.parameters.list}}", "file", "a-b"), "bad_field /nodes/0/collect");
  EXPECT_EQ(mapped("{{workflow.parameters.none}}", "file"), "bad_template /nodes/0/over");
  EXPECT_EQ(mapped("{{nodes.b.outputs.x}}", "file"), "unknown_node /nodes/0/over");
  for (const std::string over : {"[1]", "{{workflow.parameters.list}} ", "{{workflow.run_id}}",
                                 "{{workflow.parameters.list}}{{workflow.parameters.at}}"}) {
    EXPECT_EQ(mapped(over, "file"), "bad_field /nodes/0/over") << over;
  }
  EXPECT_EQ(mapped("", "file", "rows"), "bad_field /nodes/0/as, bad_field /nodes/0/collect");
  WorkflowNode same = Node("a");
  same.over = "{{workflow.parameters.list}}";
  same.as = "file";
  same.parameters["FILE"] = int64_t{1};
  EXPECT_EQ(PlacesIn({same}), "bad_field /nodes/0/as");
  WorkflowNode gate = Gate("a");
  gate.over = same.over;
  gate.as = "file";
  EXPECT_EQ(PlacesIn({gate}), "bad_field /nodes/0/over");
}

TEST(FinallyCheckTest, FinallyNodesAreBehindAllOthers) {
  WorkflowNode clean = Finally("clean");
  clean.parameters = {{"a", std::string("{{nodes.a.state}} {{nodes.b.outputs.x}}")},
                      {"state", std::string("{{workflow.state}}")}};
  WorkflowNode mail = Finally("mail", {Done("clean")});
  mail.parameters["clean"] = std::string("{{nodes.clean.state}}");
  EXPECT_EQ(PlacesIn({Node("a"), clean, Node("b"), mail}), "");
  EXPECT_EQ(PlacesIn({Finally("a")}), "bad_field /nodes/0/finally");
  EXPECT_EQ(PlacesIn({Node("a"), Finally("b", {Done("a")})}), "bad_field /nodes/1/after/0/node");
  EXPECT_EQ(PlacesIn({Finally("a"), Node("b", {Done("a")})}), "bad_field /nodes/1/after/0/node");
  WorkflowEdge repair = Failure("b");
  repair.recovers = true;
  EXPECT_EQ(PlacesIn({Node("a"), Finally("b"), Finally("c", {repair})}),
            "bad_field /nodes/2/after/0/recovers");
  WorkflowNode early = Node("a");
  early.parameters = {{"x", std::string("{{nodes.clean.state}}")},
                      {"y", std::string("{{workflow.state}}")}};
  EXPECT_EQ(PlacesIn({early, Finally("clean")}),
            "not_upstream /nodes/0/parameters/x, bad_template /nodes/0/parameters/y");
  WorkflowNode beside = Finally("c");
  beside.parameters["x"] = std::string("{{nodes.b.state}}");
  EXPECT_EQ(PlacesIn({Node("a"), Finally("b"), beside}), "not_upstream /nodes/2/parameters/x");
  for (const int64_t timeout : {int64_t{0}, kFinallyTimeoutMaxS + 1}) {
    EXPECT_EQ(PlacesIn(WorkflowDefinition{.nodes = {Node("a")}, .finally_timeout_s = timeout}),
              "bad_field /finally_timeout");
  }
}

TEST(SucceededCheckTest, ARuleThatCanNeverHoldIsRefused) {
  const auto after = [](int64_t least, std::vector<WorkflowEdge> edges) {
    WorkflowNode node = Node("c", std::move(edges));
    node.trigger_rule = {.least = least, .succeeded = true};
    return PlacesIn({Node("a"), Node("b"), node});
  };
  EXPECT_EQ(after(TriggerRule::kAll, {Success("a"), Done("b")}), "");
  EXPECT_EQ(after(2, {Success("a"), Done("b")}), "");
  EXPECT_EQ(after(3, {Success("a"), Done("b")}), "bad_trigger_rule /nodes/2/trigger_rule");
  EXPECT_EQ(after(TriggerRule::kAll, {}), "bad_trigger_rule /nodes/2/trigger_rule");
  EXPECT_EQ(after(1, {Success("a"), Failure("b")}), "");
  EXPECT_EQ(after(2, {Success("a"), Failure("b")}), "never_starts /nodes/2/after");
  EXPECT_EQ(after(TriggerRule::kAll, {Success("a"), Failure("b")}), "never_starts /nodes/2/after");
  EXPECT_EQ(after(1, {Done("a", "state == 'FAILED'")}), "never_starts /nodes/2/after");
}

TEST(OutputsCheckTest, OutputsOfTheWorkflowNameItsNodes) {
  const auto outputs = [](std::map<std::string, std::string> all) {
    return PlacesIn(
        WorkflowDefinition{.nodes = {Node("a"), Finally("b")}, .outputs = std::move(all)});
  };
  EXPECT_EQ(outputs({{"rows", "{{nodes.a.outputs.rows}}"}, {"clean", "{{nodes.b.state}}"}}), "");
  EXPECT_EQ(outputs({{"a-b", "x"}}), "bad_field /outputs/a-b");
  EXPECT_EQ(outputs({{"a", "{{nodes.c.state}}"}}), "unknown_node /outputs/a");
  EXPECT_EQ(outputs({{"a", "{{workflow.state}}"}}), "bad_template /outputs/a");
  EXPECT_EQ(outputs({{"a", "{{x}}"}}), "bad_template /outputs/a");
  EXPECT_EQ(outputs({{"a", "{{workflow.parameters.none}}"}}), "bad_template /outputs/a");
  EXPECT_EQ(outputs({{"a", std::string(kOutputsBytesMax + 1, 'x')}}), "bad_field /outputs/a");
  std::map<std::string, std::string> many;
  for (int i = 0; i < 51; ++i) many["o" + std::to_string(i)] = "x";
  EXPECT_EQ(outputs(many), "limit /outputs");
}

// ---- with the jobs -----------------------------------------------------------------------------

class JobsByName : public WorkflowLookup {
 public:
  Result<std::optional<WorkflowJob>> Find(const JobId& job) override {
    EXPECT_FALSE(job.empty()) << "a node without a job";
    const auto found = jobs.find(job.value());
    if (found == jobs.end()) return std::optional<WorkflowJob>();
    return std::optional(found->second);
  }

  std::map<std::string, WorkflowJob> jobs = {
      {"job", {.type = JobType::kShell}},
      {"nested",
       {.node_jobs = {{JobId("job")}}, .type = JobType::kWorkflow, .output_names = {{"rows"}}}},
      {"parts", {.type = JobType::kShell, .fan_out = "shards"}},
      {"request", {.type = JobType::kHttp}}};
};

std::string WithJobs(const WorkflowDefinition& workflow) {
  JobsByName jobs;
  const auto problems = CheckWorkflowJobs(workflow, JobId("self"), jobs);
  EXPECT_TRUE(problems.ok());
  return PlacesOf(*problems);
}
std::string WithJobs(std::vector<WorkflowNode> nodes) {
  return WithJobs(WorkflowDefinition{.nodes = std::move(nodes)});
}
WorkflowNode Naming(const std::string& job, std::vector<WorkflowEdge> after = {}) {
  WorkflowNode node = Node("n", std::move(after));
  node.job = JobId(job);
  return node;
}
WorkflowNode Over(WorkflowNode node, const std::string& over, const std::string& collect = "") {
  node.over = over;
  node.as = "file";
  node.collect = collect;
  return node;
}
WorkflowNode Asking(const std::string& node, const std::string& text) {
  WorkflowNode asking = Node("asking", {Done(node)});
  asking.parameters["x"] = text;
  return asking;
}

TEST(NodeJobsCheckTest, NodesWithoutAJobAreNotLookedUp) {
  EXPECT_EQ(WithJobs({TaskNode("t", {.command = "true"}), Gate("g"), Waits("w", {.for_s = 1})}),
            "");
}

TEST(NodeJobsCheckTest, NoOutputBecomesPartOfTheCommandOfATask) {
  WorkflowNode task = TaskNode("t", {.command = "rm {{params.file}}"}, {Success("a")});
  task.parameters["file"] = std::string("{{nodes.a.outputs.file}}");
  EXPECT_EQ(WithJobs({Node("a"), task}), "unsafe_parameter /nodes/1/parameters/file");
  task.parameters.clear();
  EXPECT_EQ(WithJobs({Node("a"), Over(task, "{{nodes.a.outputs.files}}")}),
            "unsafe_parameter /nodes/1/as");
  EXPECT_EQ(WithJobs({Node("a"), Over(task, "{{workflow.parameters.list}}")}), "");
}

TEST(NodeJobsCheckTest, ANestedWorkflowHasFewRules) {
  WorkflowNode node = Naming("nested");
  node.rules = {.timeout_s = 5, .priority = 3};
  EXPECT_EQ(WithJobs({node}), "");
  node.rules.retry_count = 1;
  EXPECT_EQ(WithJobs({node}), "bad_field /nodes/0/retry_count");
}

TEST(NodeJobsCheckTest, OnlyAJobWithOneProcessRunsForItems) {
  const std::string list = "{{workflow.parameters.list}}";
  EXPECT_EQ(WithJobs({Over(Naming("job"), list, "rows")}), "");
  EXPECT_EQ(WithJobs({Over(Naming("nested"), list)}), "bad_field /nodes/0/over");
  EXPECT_EQ(WithJobs({Over(Naming("parts"), list)}), "bad_field /nodes/0/over");
  EXPECT_EQ(WithJobs({Over(Naming("request"), list)}), "");
  EXPECT_EQ(WithJobs({Over(Naming("request"), list, "rows")}), "bad_field /nodes/0/collect");
}

TEST(NodeJobsCheckTest, EveryKindOfNodeHandsOnWhatItCanHave) {
  const std::string list = "{{workflow.parameters.list}}";
  struct Case {
    WorkflowNode node;
    std::string good, bad;
  };
  for (const Case& one : std::vector<Case>{
           {Naming("nested"), "{{nodes.n.outputs.rows}}", "{{nodes.n.outputs.other}}"},
           {Naming("nested"), "{{nodes.n.state}}", "{{nodes.n.exit_code}}"},
           {Over(Naming("job"), list, "rows"), "{{nodes.n.outputs.rows}}",
            "{{nodes.n.outputs.other}}"},
           {Over(Naming("job"), list), "{{nodes.n.state}}", "{{nodes.n.outputs.rows}}"},
           {Over(Naming("job"), list, "rows"), "x", "{{nodes.n.exit_code}}"},
           {Gate("n"), "{{nodes.n.outputs.by}}", "{{nodes.n.outputs.rows}}"},
           {Gate("n"), "{{nodes.n.outputs.reason}}", "{{nodes.n.exit_code}}"},
           {Waits("n", {.for_s = 1}), "{{nodes.n.state}}", "{{nodes.n.outputs.x}}"},
           {TaskNode("n", {.command = "x"}), "{{nodes.n.outputs.x}} {{nodes.n.exit_code}}", ""},
           {TaskNode("n", {.type = JobType::kNoop}), "{{nodes.n.exit_code}}",
            "{{nodes.n.outputs.x}}"}}) {
    EXPECT_EQ(WithJobs({one.node, Asking("n", one.good)}), "") << one.good;
    if (one.bad.empty()) continue;
    EXPECT_EQ(WithJobs({one.node, Asking("n", one.bad)}), "bad_template /nodes/1/parameters/x")
        << one.bad;
    EXPECT_EQ(WithJobs({.nodes = {one.node}, .outputs = {{"out", one.bad}}}),
              "bad_template /outputs/out")
        << one.bad;
    WorkflowNode gate = Gate("g", {.message = one.bad}, {Done("n")});
    EXPECT_EQ(WithJobs({one.node, gate}), "bad_template /nodes/1/approval/message") << one.bad;
  }
}

TEST(NodeJobsCheckTest, AConditionAsksForOutputsByTheirNames) {
  const auto condition = [](const std::string& text) {
    return WithJobs({Naming("nested"), Node("b", {Done("n", text)})});
  };
  EXPECT_EQ(condition("outputs.rows > 1"), "");
  EXPECT_EQ(condition("outputs.rows > 1 or outputs.other > 1"),
            "bad_condition /nodes/1/after/0/if");
}

TEST(NodeJobsCheckTest, ANameThatAnEditTakesAwayIsFound) {
  const WorkflowDefinition workflow{
      .nodes = {Naming("nested"), Asking("n", "{{nodes.n.outputs.rows}}")},
      .outputs = {{"y", "{{nodes.n.outputs.day}}"}}};
  const NodeResults both{.outputs = true, .names = {{"rows", "day"}}};
  const auto left = [&](std::set<std::string> names) {
    return AskedOfJob(workflow, JobId("nested"), both,
                      {.outputs = !names.empty(), .names = std::move(names)});
  };
  EXPECT_EQ(left({"rows", "day", "more"}), "");
  EXPECT_EQ(left({"day"}), "node 'asking' asks for outputs of node 'n'");
  EXPECT_EQ(left({"rows"}), "an output of the workflow asks for outputs of node 'n'");
  EXPECT_EQ(left({}), "node 'asking' asks for outputs of node 'n'");
  const WorkflowDefinition mapped{
      .nodes = {Over(Naming("job"), "{{workflow.parameters.list}}", "rows"),
                Asking("n", "{{nodes.n.outputs.rows}}")}};
  EXPECT_EQ(AskedOfJob(mapped, JobId("job"), {.outputs = true}), "node 'n' collects outputs");
}

TEST(NodeJobsCheckTest, AWorkflowHasTheOutputsThatItDeclares) {
  JobDefinition job{.type = JobType::kWorkflow};
  job.workflow = WorkflowDefinition{.outputs = {{"rows", "x"}}};
  EXPECT_TRUE(ResultsOf(job).outputs);
  EXPECT_EQ(ResultsOf(job).names, (std::set<std::string>{"rows"}));
  EXPECT_FALSE(ResultsOf(job).exit_code);
  job.workflow->outputs.clear();
  EXPECT_FALSE(ResultsOf(job).outputs);
  EXPECT_TRUE(ResultsOf(JobDefinition{.type = JobType::kShell}).outputs);
}

}  // namespace
}  // namespace carillon::test
