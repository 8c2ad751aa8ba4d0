#include "common/domain/workflow/workflow_check.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

// "cycle /nodes/0/after/0/node, unknown_node /…"
std::string ProblemText(const WorkflowProblems& problems) {
  std::string text;
  for (const WorkflowProblem& problem : problems) {
    if (!text.empty()) text += ", ";
    text += std::string(Name(problem.code)) + " " + problem.pointer;
    EXPECT_FALSE(problem.message.empty()) << text;
  }
  return text;
}

std::string Checked(std::vector<WorkflowNode> nodes) {
  const WorkflowDefinition workflow{.nodes = std::move(nodes)};
  const WorkflowProblems problems = CheckWorkflow(workflow);
  if (problems.empty()) {
    EXPECT_TRUE(WorkflowGraph::Compile(workflow).ok());
  }
  return ProblemText(problems);
}

WorkflowNode WithRule(WorkflowNode node, int64_t least) {
  node.trigger_rule.least = least;
  return node;
}

TEST(WorkflowCheckTest, AcceptsAGoodWorkflow) {
  WorkflowEdge recovers = Failure("audit", "exit_code == 3");
  recovers.recovers = true;
  WorkflowNode audit = Node("audit", {Success("load")});
  audit.parameters["path"] = std::string("{{nodes.load.outputs.file}}");
  WorkflowNode report = Node("report", {Done("publish")});
  report.parameters["from"] = std::string("{{nodes.load.state}}");
  EXPECT_EQ(Checked({Node("load"), audit, Node("repair", {recovers}),
                     WithRule(Node("publish", {Success("audit"), Success("repair")}), 1), report}),
            "");
}

TEST(WorkflowCheckTest, ReportsAllMistakesAtOnce) {
  EXPECT_EQ(Checked({Node("a", {Success("none")}), Node("a"), Node("B"),
                     WithRule(Node("c", {Success("a")}), 2)}),
            "duplicate_node /nodes/1/id, bad_field /nodes/2/id, unknown_node "
            "/nodes/0/after/0/node, bad_trigger_rule /nodes/3/trigger_rule");
}

TEST(WorkflowCheckTest, AMisspeltNodeIsSuggested) {
  const auto problems =
      CheckWorkflow({.nodes = {Node("publish"), Node("b", {Success("pubilsh")})}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "no node 'pubilsh'; did you mean 'publish'?");
}

TEST(WorkflowCheckTest, ACycleNamesItsPath) {
  const auto message = [](std::vector<WorkflowNode> nodes) {
    std::string text;
    for (const WorkflowProblem& problem : CheckWorkflow({.nodes = std::move(nodes)})) {
      EXPECT_EQ(problem.code, WorkflowMistake::kCycle);
      text += problem.pointer + " " + problem.message + "; ";
    }
    return text;
  };
  EXPECT_EQ(message({Node("a", {Success("a")})}), "/nodes/0/after/0/node a -> a; ");
  EXPECT_EQ(message({Node("a", {Success("c")}), Node("b", {Success("a")}),
                     Node("c", {Success("x"), Success("b")}), Node("x")}),
            "/nodes/1/after/0/node a -> b -> c -> a; ");
  // Two cycles without a common node are two mistakes.
  EXPECT_EQ(message({Node("a", {Success("b")}), Node("b", {Success("a")}),
                     Node("c", {Done("d"), Success("a")}), Node("d", {Success("c")})}),
            "/nodes/1/after/0/node a -> b -> a; /nodes/3/after/0/node c -> d -> c; ");
}

TEST(WorkflowCheckTest, TemplatesNameOnlyUpstreamNodes) {
  const auto with = [](std::string text) {
    WorkflowNode node = Node("c", {Success("b")});
    node.parameters["p"] = std::move(text);
    return Checked(
        {Node("a"), Node("b", {Success("a")}), node, Node("d", {Success("c")}), Node("e")});
  };
  EXPECT_EQ(with("{{nodes.a.state}} {{nodes.b.outputs.x}}"), "");
  EXPECT_EQ(with("{{nodes.c.state}}"), "not_upstream /nodes/2/parameters/p");
  EXPECT_EQ(with("{{nodes.d.state}}"), "not_upstream /nodes/2/parameters/p");
  EXPECT_EQ(with("{{nodes.e.state}}"), "not_upstream /nodes/2/parameters/p");
  EXPECT_EQ(with("{{nodes.x.state}}"), "unknown_node /nodes/2/parameters/p");
  EXPECT_EQ(with("{{nodes.a.status}}"), "bad_template /nodes/2/parameters/p");
  EXPECT_EQ(with("{{workflow.parameters.x}}"), "");
}

TEST(WorkflowCheckTest, TemplatesNameOnlyKnownParameters) {
  WorkflowNode node = Node("a");
  node.parameters["p"] = std::string("{{workflow.parameters.region}}");
  const std::set<std::string> none;
  const std::set<std::string> some{"region"};
  EXPECT_EQ(ProblemText(CheckWorkflow({.nodes = {node}}, {.parameters = &none})),
            "bad_template /nodes/0/parameters/p");
  EXPECT_EQ(ProblemText(CheckWorkflow({.nodes = {node}}, {.parameters = &some})), "");
}

TEST(WorkflowCheckTest, ANodeThatCannotStartIsReported) {
  const auto last = [](std::vector<WorkflowEdge> after, int64_t least) {
    return Checked({Node("a"), Node("b"), WithRule(Node("c", std::move(after)), least)});
  };
  const std::string never = "never_starts /nodes/2/after";
  EXPECT_EQ(last({Success("a", "false")}, TriggerRule::kAll), never);
  EXPECT_EQ(last({Success("a", "state == 'FAILED'")}, TriggerRule::kAll), never);
  EXPECT_EQ(last({Success("a", "exit_code == 3")}, TriggerRule::kAny), never);
  EXPECT_EQ(last({Failure("a", "state == 'COMPLETED'")}, TriggerRule::kAll), never);
  EXPECT_EQ(last({Done("a", "state == 'FAILED'")}, TriggerRule::kAll), "");
  EXPECT_EQ(last({Success("a", "exit_code == 0")}, TriggerRule::kAll), "");
  EXPECT_EQ(last({Failure("a", "exit_code == 3")}, TriggerRule::kAll), "");
  EXPECT_EQ(last({Success("a", "false"), Success("b")}, TriggerRule::kAll), "");
  EXPECT_EQ(last({Success("a", "false"), Success("b")}, 2), never);
  EXPECT_EQ(last({Success("a", "false"), Success("b")}, TriggerRule::kAny), "");
  // A failure that is allowed counts as a success.
  WorkflowNode may_fail = Node("a");
  may_fail.allow_failure = true;
  EXPECT_EQ(Checked({may_fail, Node("b", {Success("a", "exit_code == 3")})}), "");
}

TEST(WorkflowCheckTest, BoundsOfFieldsAreChecked) {
  EXPECT_EQ(ProblemText(CheckWorkflow({})), "limit /nodes");
  EXPECT_EQ(ProblemText(CheckWorkflow({.max_parallel = 0, .nodes = {Node("a")}})),
            "bad_field /max_parallel");
  EXPECT_EQ(ProblemText(CheckWorkflow({.max_parallel = 501, .nodes = {Node("a")}})),
            "bad_field /max_parallel");
  EXPECT_EQ(Checked({WithRule(Node("a"), 1)}), "bad_trigger_rule /nodes/0/trigger_rule");
  EXPECT_EQ(Checked({WithRule(Node("a"), -1)}), "bad_trigger_rule /nodes/0/trigger_rule");
  EXPECT_EQ(Checked({Node("a"), Node("b", {Success("a"), Failure("a")})}),
            "duplicate_edge /nodes/1/after/1");
  WorkflowEdge recovers = Success("a");
  recovers.recovers = true;
  EXPECT_EQ(Checked({Node("a"), Node("b", {recovers})}), "bad_field /nodes/1/after/0/recovers");
  EXPECT_EQ(Checked({Node("a"), Node("b", {Success("a", "exit_code = 3")})}),
            "bad_condition /nodes/1/after/0/if");
  WorkflowNode node = Node("a");
  node.job = JobId("No Job");
  node.parameters["1"] = std::string("x");
  EXPECT_EQ(Checked({node}), "bad_field /nodes/0/job, bad_field /nodes/0/parameters/1");
}

TEST(WorkflowCheckTest, SizesAreLimited) {
  std::vector<WorkflowNode> nodes;
  for (size_t i = 0; i < kWorkflowNodesMax; ++i) nodes.push_back(Node("n" + std::to_string(i)));
  EXPECT_EQ(Checked(nodes), "");
  nodes.push_back(Node("last", {Success("n0")}));
  EXPECT_EQ(Checked(nodes), "limit /nodes");
  nodes.pop_back();
  for (size_t i = 1; i < nodes.size(); ++i) {
    for (size_t from = 0; from < i && from < 11; ++from)
      nodes[i].after.push_back(Done(nodes[from].id));
  }
  EXPECT_EQ(Checked(nodes), "limit /nodes");
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].id = "x";
  EXPECT_EQ(CheckWorkflow({.nodes = nodes}).size(), kWorkflowProblemsMax);
}

// ---- jobs --------------------------------------------------------------------------------------

class KnownJobs : public WorkflowLookup {
 public:
  Result<std::optional<WorkflowJob>> Find(const JobId& job) override {
    ++lookups;
    const auto found = jobs.find(job.value());
    if (found == jobs.end()) return std::optional<WorkflowJob>();
    return std::optional(found->second);
  }

  static WorkflowJob Workflow(const std::vector<std::string>& nodes) {
    WorkflowJob job{.node_jobs = std::vector<JobId>()};
    for (const std::string& node : nodes) job.node_jobs->emplace_back(node);
    return job;
  }

  std::map<std::string, WorkflowJob> jobs;
  int lookups = 0;
};

WorkflowNode Runs(std::string id, const std::string& job) {
  WorkflowNode node = Node(std::move(id));
  node.job = JobId(job);
  return node;
}

TEST(WorkflowJobsCheckTest, JobsExistAndMayBeRun) {
  KnownJobs known;
  known.jobs["load"] = {};
  known.jobs["secret"] = {.may_run = false};
  const auto problems = CheckWorkflowJobs(
      {.nodes = {Runs("a", "load"), Runs("b", "gone"), Runs("c", "secret"), Runs("d", "load")}},
      JobId("self"), known);
  ASSERT_TRUE(problems.ok());
  EXPECT_EQ(ProblemText(*problems), "unknown_job /nodes/1/job, forbidden /nodes/2/job");
  EXPECT_EQ(known.lookups, 3);
}

TEST(WorkflowJobsCheckTest, NoOutputBecomesPartOfACommand) {
  KnownJobs known;
  known.jobs["load"] = {.command_parameters = {"path"}};
  WorkflowNode node = Runs("b", "load");
  node.after = {Success("a")};
  node.parameters = {{"path", std::string("{{nodes.a.outputs.file}}")},
                     {"other", std::string("{{nodes.a.outputs.file}}")}};
  const auto problems =
      CheckWorkflowJobs({.nodes = {Runs("a", "load"), node}}, JobId("self"), known);
  ASSERT_TRUE(problems.ok());
  EXPECT_EQ(ProblemText(*problems), "unsafe_parameter /nodes/1/parameters/path");
}

TEST(WorkflowJobsCheckTest, NoParameterDiffersOnlyByCaseFromOneOfTheJob) {
  KnownJobs known;
  known.jobs["load"] = {.parameters = {"Day", "path"}};
  WorkflowNode node = Runs("a", "load");
  node.parameters = {{"day", std::string("1")}, {"path", std::string("/")}};
  const auto problems = CheckWorkflowJobs({.nodes = {node}}, JobId("self"), known);
  ASSERT_TRUE(problems.ok());
  EXPECT_EQ(ProblemText(*problems), "bad_field /nodes/0/parameters/day");
}

// The parts of a run keep their outputs and exit codes.
TEST(WorkflowJobsCheckTest, ANodeThatFansOutGivesItsStateOnly) {
  for (const std::string_view field : {"shards", "broadcast"}) {
    KnownJobs known;
    known.jobs["source"] = {.type = JobType::kShell, .fan_out = field};
    known.jobs["show"] = {.type = JobType::kShell};
    WorkflowNode next = Runs("b", "show");
    next.after = {{.node = "a", .on = EdgeOn::kDone, .condition = "exit_code == 3"}};
    next.parameters = {{"out", std::string("{{nodes.a.outputs.y}} {{nodes.a.outputs.z}}")},
                       {"state", std::string("{{nodes.a.state}}")}};
    const WorkflowDefinition workflow{.nodes = {Runs("a", "source"), next}};
    const auto problems = CheckWorkflowJobs(workflow, JobId("self"), known);
    ASSERT_TRUE(problems.ok());
    EXPECT_EQ(ProblemText(*problems),
              "bad_template /nodes/1/parameters/out, bad_condition /nodes/1/after/0/if");
    EXPECT_EQ(problems->front().message, "node 'a' has no outputs, because its job 'source' has " +
                                             std::string(field) +
                                             ", and each part of a run keeps its own");
    known.jobs["source"].fan_out = {};
    EXPECT_TRUE(CheckWorkflowJobs(workflow, JobId("self"), known)->empty());
  }
}

TEST(WorkflowJobsCheckTest, WhatAJobIsAskedForIsFound) {
  WorkflowNode next = Runs("b", "show");
  next.after = {{.node = "a", .on = EdgeOn::kDone, .condition = "exit_code == 3"}};
  next.parameters = {{"state", std::string("{{nodes.a.state}}")}};
  WorkflowDefinition workflow{.nodes = {Runs("a", "source"), next}};
  const auto asked = [&](const char* job, const NodeResults& results) {
    return AskedOfJob(workflow, JobId(job), results);
  };
  EXPECT_EQ(asked("source", {.exit_code = true}), "node 'b' asks for the exit code of node 'a'");
  EXPECT_EQ(asked("source", {.outputs = true}), "");
  EXPECT_EQ(asked("show", {.outputs = true, .exit_code = true}), "");
  workflow.nodes[1].parameters["out"] = std::string("{{nodes.a.outputs.y}}");
  EXPECT_EQ(asked("source", {.outputs = true}), "node 'b' asks for outputs of node 'a'");
}

TEST(WorkflowJobsCheckTest, ANodeGivesOnlyWhatItsTypeCanHave) {
  struct Case {
    JobType type;
    bool outputs;
    bool exit_code;
  };
  const std::vector<Case> cases{{JobType::kShell, true, true},     {JobType::kScript, true, true},
                                {JobType::kContainer, true, true}, {JobType::kHandler, true, false},
                                {JobType::kNoop, false, true},     {JobType::kHttp, false, false},
                                {JobType::kWorkflow, false, false}};
  EXPECT_EQ(cases.size(), static_cast<size_t>(JobType::kContainer) + 1);
  for (const Case& one : cases) {
    KnownJobs known;
    known.jobs["source"] = {.type = one.type, .output_names = std::set<std::string>()};
    known.jobs["show"] = {.type = JobType::kShell};
    WorkflowNode last = Runs("c", "show");
    last.after = {Success("b")};
    last.parameters = {{"code", std::string("{{nodes.a.exit_code}}")},
                       {"out", std::string("x {{nodes.a.state}} {{nodes.a.outputs.y}}")},
                       {"state", std::string("{{nodes.a.state}}")}};
    const auto problems = [&](const std::string& condition) {
      WorkflowNode next = Runs("b", "show");
      next.after = {{.node = "a", .on = EdgeOn::kDone, .condition = condition}};
      const WorkflowDefinition workflow{.nodes = {Runs("a", "source"), next, last}};
      return ProblemText(*CheckWorkflowJobs(workflow, JobId("self"), known));
    };
    std::string parameters;
    const auto add = [&parameters](bool refused, const char* problem) {
      if (refused) parameters += (parameters.empty() ? "" : ", ") + std::string(problem);
    };
    add(!one.exit_code, "bad_template /nodes/2/parameters/code");
    add(!one.outputs, "bad_template /nodes/2/parameters/out");
    const auto with_condition = [&](bool known_to_be_there) {
      std::string all = known_to_be_there ? "" : "bad_condition /nodes/1/after/0/if";
      if (!all.empty() && !parameters.empty()) all += ", ";
      return all + parameters;
    };
    EXPECT_EQ(problems("state == 'FAILED'"), parameters) << Name(one.type);
    EXPECT_EQ(problems("outputs.y == null"), with_condition(one.outputs)) << Name(one.type);
    EXPECT_EQ(problems("exit_code != 3"), with_condition(one.exit_code)) << Name(one.type);
  }
}

TEST(WorkflowJobsCheckTest, WhatAnUnknownOrHiddenJobGivesIsNotTold) {
  KnownJobs known;
  known.jobs["coming"] = {};
  known.jobs["hidden"] = {.visible = false, .type = JobType::kNoop};
  known.jobs["show"] = {.type = JobType::kShell};
  WorkflowNode last = Runs("c", "show");
  last.after = {Success("a"), Success("b")};
  last.parameters = {{"x", std::string("{{nodes.a.outputs.x}}")},
                     {"y", std::string("{{nodes.b.outputs.y}}")}};
  const auto problems = CheckWorkflowJobs(
      {.nodes = {Runs("a", "coming"), Runs("b", "hidden"), last}}, JobId("self"), known);
  ASSERT_TRUE(problems.ok());
  EXPECT_EQ(ProblemText(*problems), "unknown_job /nodes/1/job");
}

TEST(WorkflowJobsCheckTest, WorkflowsDoNotContainThemselves) {
  KnownJobs known;
  known.jobs["report"] = KnownJobs::Workflow({"load", "nightly"});
  known.jobs["outer"] = KnownJobs::Workflow({"report"});
  known.jobs["load"] = {};
  const WorkflowDefinition workflow{
      .nodes = {Runs("a", "outer"), Runs("b", "nightly"), Runs("c", "load")}};
  const auto problems = CheckWorkflowJobs(workflow, JobId("nightly"), known);
  ASSERT_TRUE(problems.ok());
  ASSERT_EQ(ProblemText(*problems), "cycle /nodes/0/job, cycle /nodes/1/job");
  EXPECT_EQ((*problems)[0].message, "nightly -> outer -> report -> nightly");
  EXPECT_EQ((*problems)[1].message, "nightly -> nightly");
}

TEST(WorkflowJobsCheckTest, AHiddenWorkflowIsFollowedButNotNamed) {
  KnownJobs known;
  known.jobs["hidden"] = KnownJobs::Workflow({"nightly"});
  known.jobs["hidden"].visible = false;
  known.jobs["outer"] = KnownJobs::Workflow({"hidden"});
  const auto problems = CheckWorkflowJobs({.nodes = {Runs("a", "outer"), Runs("b", "hidden")}},
                                          JobId("nightly"), known);
  ASSERT_TRUE(problems.ok());
  ASSERT_EQ(ProblemText(*problems), "cycle /nodes/0/job, unknown_job /nodes/1/job");
  EXPECT_EQ((*problems)[0].message, "nightly -> outer -> (hidden) -> nightly");
}

TEST(WorkflowJobsCheckTest, NestingIsLimited) {
  KnownJobs known;
  known.jobs["leaf"] = {};
  known.jobs["w1"] = KnownJobs::Workflow({"leaf"});
  known.jobs["w2"] = KnownJobs::Workflow({"w1", "leaf"});
  known.jobs["w3"] = KnownJobs::Workflow({"leaf", "w2"});
  known.jobs["w4"] = KnownJobs::Workflow({"w3"});
  const auto checked = [&](const std::string& job) {
    return ProblemText(*CheckWorkflowJobs({.nodes = {Runs("a", job)}}, JobId("self"), known));
  };
  EXPECT_EQ(checked("w3"), "");
  EXPECT_EQ(checked("w4"), "too_deep /nodes/0/job");
  // A circle among others, which no write should have made, ends too.
  known.jobs["w1"] = KnownJobs::Workflow({"w4"});
  EXPECT_EQ(checked("w2"), "too_deep /nodes/0/job");
}

}  // namespace
}  // namespace carillon::test
