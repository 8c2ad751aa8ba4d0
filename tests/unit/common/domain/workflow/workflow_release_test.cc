#include "common/domain/workflow/workflow_release.h"

#include <gtest/gtest.h>

#include "common/domain/nodes/run_rules.h"
#include "common/domain/workflow/workflow_end.h"
#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

const RunKey kOwnRun{FromUnixMicros(1'772'323'200'000'000), ScheduleId(7)};

WorkflowFacts FactsOfRun() {
  return {.run = kOwnRun,
          .parameters = {{"list", std::string("[1, \"b\"]")}, {"region", std::string("eu")}}};
}

// The release of a node after `a`, whose outputs are n=12 and files=["x","y"].
NodeRelease ReleaseOf(WorkflowNode node, const JobDefinition& definition = {.command = "true"}) {
  node.id = "node";
  node.after = {Success("a")};
  const WorkflowGraph graph = Graph({Node("a"), std::move(node)});
  NodeRows rows{Completed(), Blocked()};
  rows[0].outputs = {{"n", "12"}, {"files", R"(["x","y"])"}};
  return DecideRelease(graph, 1, rows, FactsOfRun(), JobRow{}, definition);
}

WorkflowNode MappedOver(const std::string& list) {
  WorkflowNode node = Node("node");
  node.over = list;
  node.as = "file";
  return node;
}

TEST(WorkflowReleaseTest, TheRunHasTheRulesOfItsNode) {
  EXPECT_EQ(ReleaseOf(Node("node")).rules, "");
  WorkflowNode node = Node("node");
  node.rules = {.timeout_s = 5, .concurrency_group = ""};
  EXPECT_EQ(ReleaseOf(node).rules, ToText(node.rules));
  const JobDefinition task{.command = "true", .retry_count = 3};
  const NodeRelease release = ReleaseOf({.task = TaskBox(task)}, task);
  EXPECT_EQ(release.skip, "");
  EXPECT_EQ(release.rules, ToText(RulesOfTask(task)));
}

TEST(WorkflowReleaseTest, AMappedNodeHasItsItems) {
  const NodeRelease given = ReleaseOf(MappedOver("{{workflow.parameters.list}}"));
  EXPECT_EQ(given.skip, "");
  EXPECT_EQ(given.parameters.items, (std::vector<ParameterValue>{int64_t{1}, std::string("b")}));
  EXPECT_EQ(given.rules, "items=2;as=file");
  EXPECT_TRUE(given.parameters.untrusted.empty());
  const NodeRelease from_output = ReleaseOf(MappedOver("{{nodes.a.outputs.files}}"));
  EXPECT_EQ(from_output.parameters.items.size(), 2u);
  EXPECT_EQ(from_output.parameters.untrusted, std::set<std::string>{"file"});
}

TEST(WorkflowReleaseTest, AListThatIsNoneSkipsTheNode) {
  for (const std::string over :
       {"{{nodes.a.outputs.n}}", "{{nodes.a.outputs.none}}", "{{workflow.parameters.region}}"}) {
    const NodeRelease release = ReleaseOf(MappedOver(over));
    EXPECT_EQ(release.skip, reason::kBadParameters) << over;
    EXPECT_TRUE(release.error.starts_with("/over: ")) << release.error;
  }
}

TEST(WorkflowReleaseTest, EachItemMustFitTheRulesOfTheJob) {
  JobDefinition job{.command = "true"};
  job.parameter_rules["file"] = {.type = ParameterType::kString, .required = true};
  EXPECT_EQ(ReleaseOf(MappedOver("{{nodes.a.outputs.files}}"), job).skip, "");
  const NodeRelease number = ReleaseOf(MappedOver("{{workflow.parameters.list}}"), job);
  EXPECT_EQ(number.skip, reason::kBadParameters);
  EXPECT_NE(number.error.find("item 1"), std::string::npos) << number.error;
}

// An edit of the job after that of the workflow.
TEST(WorkflowReleaseTest, AJobThatFansOutOrIsAWorkflowCannotRunForItems) {
  JobDefinition parts{.command = "true"};
  parts.shards = Shards{};
  JobDefinition nested{.type = JobType::kWorkflow};
  nested.workflow = WorkflowDefinition{};
  for (const JobDefinition& job : {parts, nested}) {
    EXPECT_EQ(ReleaseOf(MappedOver("{{workflow.parameters.list}}"), job).skip,
              reason::kBadParameters);
  }
}

TEST(WorkflowReleaseTest, AnItemFromOutsideIsNoPartOfACommand) {
  const JobDefinition job{.command = "rm {{params.file}}"};
  EXPECT_EQ(ReleaseOf(MappedOver("{{nodes.a.outputs.files}}"), job).skip, reason::kUnsafeParameter);
  EXPECT_EQ(ReleaseOf(MappedOver("{{workflow.parameters.list}}"), job).skip, "");
}

TEST(WorkflowReleaseTest, AnApprovalOpensWithItsMessage) {
  const auto opened = [](const std::string& message) {
    const WorkflowGraph graph =
        Graph({Node("a"), Gate("gate", {.message = message}, {Success("a")})});
    NodeRows rows{Completed(), Blocked()};
    rows[0].outputs = {{"n", "12"}};
    return DecideOpening(graph, 1, rows, FactsOfRun());
  };
  const NodeRelease release =
      opened("{{nodes.a.outputs.n}} rows in {{workflow.parameters.region}}");
  EXPECT_EQ(release.skip, "");
  EXPECT_EQ(release.parameters.values, (Parameters{{"message", std::string("12 rows in eu")}}));
  EXPECT_EQ(release.parameters.untrusted, std::set<std::string>{"message"});
  EXPECT_EQ(release.rules, "type=approval");
  EXPECT_EQ(opened("").parameters.values, Parameters());
  EXPECT_EQ(opened("{{nodes.a.outputs.none}}").skip, reason::kBadParameters);
  EXPECT_EQ(std::get<std::string>(opened("{{nodes.a.exit_code}}").parameters.values.at("message")),
            "0")
      << "a message is a text";
  const WorkflowGraph waits = Graph({Waits("w", {.for_s = 1})});
  EXPECT_EQ(DecideOpening(waits, 0, NodeRows(1), FactsOfRun()).rules, "type=wait");
}

TEST(WorkflowReleaseTest, AFinallyNodeIsToldWhatThereIs) {
  WorkflowNode tell = Finally("tell");
  tell.parameters["rows"] = std::string("{{nodes.a.outputs.rows}}");
  tell.parameters["text"] = std::string("{{nodes.a.state}}: code {{nodes.a.exit_code}}");
  const WorkflowGraph graph = Graph({Node("a"), tell});
  const auto told = [&](const NodeRow& a) {
    return RenderNodeParameters(graph, 1, {a, Blocked()}, FactsOfRun());
  };
  NodeRow stopped = Failed(3);
  for (const auto& [row, text] : std::vector<std::pair<NodeRow, std::string>>{
           {Skipped("upstream_failed"), "SKIPPED: code "}, {stopped, "FAILED: code 3"}}) {
    const auto rendered = told(row);
    ASSERT_TRUE(rendered.ok()) << rendered.error().message;
    EXPECT_EQ(rendered->values.at("rows"), ParameterValue(std::string()));
    EXPECT_EQ(rendered->values.at("text"), ParameterValue(text));
    EXPECT_EQ(rendered->untrusted, std::set<std::string>{"rows"});
  }
  stopped.outputs = {{"rows", "7"}};
  EXPECT_EQ(told(stopped)->values.at("rows"), ParameterValue(std::string("7")));
  EXPECT_FALSE(told(Completed()).ok()) << "it has succeeded without what was expected of it";
  tell.parameters["none"] = std::string("{{workflow.parameters.none}}");
  EXPECT_FALSE(
      RenderNodeParameters(Graph({Node("a"), tell}), 1, {stopped, Blocked()}, FactsOfRun()).ok());
}

TEST(WorkflowReleaseTest, AFinallyNodeHasNoEmptyTextForAList) {
  WorkflowNode tell = Finally("tell");
  tell.over = "{{nodes.a.outputs.files}}";
  tell.as = "file";
  const auto rendered = RenderNodeParameters(Graph({Node("a"), tell}), 1,
                                             {Skipped("upstream_failed"), Blocked()}, FactsOfRun());
  ASSERT_FALSE(rendered.ok());
  EXPECT_NE(rendered.error().message.find("the node was skipped"), std::string::npos);
}

TEST(WorkflowReleaseTest, AFinallyNodeKnowsTheState) {
  WorkflowNode clean = Finally("clean");
  clean.parameters["state"] = std::string("{{workflow.state}}");
  const WorkflowGraph graph = Graph({Node("a"), clean});
  WorkflowFacts facts = FactsOfRun();
  EXPECT_FALSE(RenderNodeParameters(graph, 1, {Completed(), Blocked()}, facts).ok());
  for (const auto& [state, text] :
       std::vector<std::pair<RunState, std::string>>{{RunState::kCompleted, "completed"},
                                                     {RunState::kFailed, "failed"},
                                                     {RunState::kCancelled, "cancelled"},
                                                     {RunState::kTimedOut, "timed_out"}}) {
    facts.state = state;
    const auto rendered = RenderNodeParameters(graph, 1, {Completed(), Blocked()}, facts);
    ASSERT_TRUE(rendered.ok());
    EXPECT_EQ(std::get<std::string>(rendered->values.at("state")), text);
    EXPECT_TRUE(rendered->untrusted.empty());
  }
}

// ---- the end -----------------------------------------------------------------------------------

WorkflowEnding EndedWith(const std::string& output, RunState state = RunState::kCompleted) {
  const WorkflowDefinition workflow{
      .nodes = {Node("a"), Node("b")},
      .outputs = {{"rows", "{{nodes.a.outputs.rows}}"}, {"day", "{{nodes.b.outputs.day}}"}}};
  NodeRows rows{Completed(), Skipped("not_selected")};
  rows[0].outputs = {{"rows", output}};
  RunRow own;
  own.claimed = kOwnRun.fire;
  const WorkflowEnd end{.state = state};
  return EndingOf(own, end, WorkflowGraph::Compile(workflow).value(), rows, FactsOfRun(),
                  kOwnRun.fire + 5s);
}

TEST(WorkflowEndTest, ACompletedRunHasTheOutputsThatThereAre) {
  const WorkflowEnding ending = EndedWith("12");
  EXPECT_EQ(ending.result.outputs, (Outputs{{"rows", "12"}}));
  EXPECT_EQ(ending.change.state, RunState::kCompleted);
  EXPECT_FALSE(ending.change.dead_letter);
  EXPECT_EQ(ending.result.ended, kOwnRun.fire + 5s);
  for (const RunState state : {RunState::kFailed, RunState::kCancelled, RunState::kTimedOut}) {
    EXPECT_TRUE(EndedWith("12", state).result.outputs.empty()) << Name(state);
    EXPECT_EQ(EndedWith("12", state).change.state, state);
  }
}

TEST(WorkflowEndTest, ACancelDoesNotNameNodesThatItHasCancelled) {
  const WorkflowGraph graph =
      WorkflowGraph::Compile({.nodes = {Node("a"), Node("b"), Node("c")}}).value();
  NodeRows rows{Completed(), Completed(), Completed()};
  rows[0].state = rows[1].state = RunState::kCancelled;
  rows[2].state = RunState::kFailed;
  const auto error_of = [&](RunState state, std::vector<size_t> failures) {
    const WorkflowEnd end{.state = state, .failures = std::move(failures)};
    return EndingOf({}, end, graph, rows, FactsOfRun(), kOwnRun.fire).result.error;
  };
  EXPECT_EQ(error_of(RunState::kCancelled, {0, 1}), "");
  EXPECT_EQ(error_of(RunState::kCancelled, {0, 1, 2}), "A node failed: c.");
  EXPECT_EQ(error_of(RunState::kFailed, {0, 1}), "Nodes failed: a, b.") << "people cancelled them";
}

TEST(WorkflowEndTest, OutputsThatAreTooLargeFailTheRun) {
  const WorkflowEnding ending = EndedWith(std::string(kOutputsBytesMax, 'x'));
  EXPECT_EQ(ending.change.state, RunState::kFailed);
  EXPECT_EQ(ending.change.reason, reason::kBadOutputs);
  EXPECT_EQ(ending.result.state, RunState::kFailed);
  EXPECT_NE(ending.result.error, "");
  EXPECT_TRUE(ending.change.dead_letter);
  EXPECT_TRUE(ending.result.outputs.empty());
}

}  // namespace
}  // namespace carillon::test
