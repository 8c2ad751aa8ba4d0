#include "common/domain/template/node_template.h"

#include <gtest/gtest.h>

#include "common/domain/template/command_parameters.h"
#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

const RunKey kRun{FromUnixMicros(1'772'323'200'000'000), ScheduleId(7)};

WorkflowFacts RunFacts() {
  return {.run = kRun,
          .parameters = {{"region", std::string("eu")},
                         {"count", int64_t{3}},
                         {"order", std::string("$(id)")}},
          .untrusted = {"order"}};
}

// Renders the parameter `p` of a node after `load`, `lost`, `by_hand` and `open`.
Result<RenderedParameters> Rendered(ParameterValue value) {
  WorkflowNode last = Node("last", {Success("load"), Done("lost"), Done("by_hand"), Done("open")});
  last.trigger_rule.least = TriggerRule::kAny;
  last.parameters["p"] = std::move(value);
  const WorkflowGraph graph =
      Graph({Node("load"), Node("lost"), Node("by_hand"), Node("open"), last});
  NodeRows rows{Failed(3), Row(RunState::kLost), Skipped("skipped_by_hand"),
                Row(RunState::kRunning), Blocked()};
  rows[0].outputs = {{"file", "/srv/a; rm -rf /"}, {"brace", "{{workflow.run_id}}"}};
  return RenderNodeParameters(graph, 4, rows, RunFacts());
}

TEST(NodeTemplateTest, FillsEveryKnownName) {
  struct Line {
    std::string text;
    ParameterValue expected;
    bool untrusted = false;
  };
  for (const Line& line : std::vector<Line>{
           {"plain", std::string("plain")},
           {"", std::string()},
           {"{{workflow.run_id}}", EncodeRunId(kRun)},
           {"in {{ workflow.parameters.region }}", std::string("in eu")},
           {"{{workflow.parameters.count}}", int64_t{3}},
           {"{{workflow.parameters.count}}{{workflow.parameters.count}}", std::string("33")},
           {"{{workflow.parameters.count}} ", std::string("3 ")},
           {"{{workflow.parameters.order}}", std::string("$(id)"), true},
           {"x{{workflow.parameters.order}}", std::string("x$(id)"), true},
           {"{{nodes.load.outputs.file}}", std::string("/srv/a; rm -rf /"), true},
           {"{{workflow.run_id}} {{nodes.load.outputs.file}}",
            EncodeRunId(kRun) + " /srv/a; rm -rf /", true},
           {"{{nodes.load.outputs.brace}}", std::string("{{workflow.run_id}}"), true},
           {"{{nodes.load.exit_code}}", int64_t{3}},
           {"code {{nodes.load.exit_code}}", std::string("code 3")},
           {"{{nodes.load.state}} {{nodes.open.state}}", std::string("FAILED RUNNING")},
           {"{{nodes.by_hand.state}}", std::string("SKIPPED")},
           {"{{{{nodes}}", std::string("{{nodes}}")},
       }) {
    const auto rendered = Rendered(line.text);
    ASSERT_TRUE(rendered.ok()) << line.text << ": " << rendered.error().message;
    EXPECT_EQ(rendered->values.at("p"), line.expected) << line.text;
    EXPECT_EQ(rendered->untrusted.contains("p"), line.untrusted) << line.text;
  }
  EXPECT_EQ(Rendered(2.5)->values.at("p"), ParameterValue(2.5));
  EXPECT_EQ(Rendered(true)->values.at("p"), ParameterValue(true));
}

TEST(NodeTemplateTest, RefusesWhatHasNoValue) {
  for (const std::string text :
       {"{{nodes.load.outputs.gone}}", "{{nodes.lost.exit_code}}", "{{nodes.lost.outputs.x}}",
        "{{nodes.by_hand.outputs.x}}", "{{nodes.by_hand.exit_code}}", "{{nodes.open.exit_code}}",
        "{{nodes.none.state}}", "{{workflow.parameters.gone}}", "{{nodes.load}}",
        "{{nodes.load.outputs}}", "{{nodes.load.outputs.1x}}", "{{nodes.Load.state}}",
        "{{params.x}}", "{{workflow.fire}}", "{{", "{{}}"}) {
    const auto rendered = Rendered(text);
    ASSERT_FALSE(rendered.ok()) << text;
    EXPECT_EQ(rendered.code(), ErrorCode::kInvalid);
    EXPECT_EQ(rendered.error().pointer, "/parameters/p") << text;
  }
}

TEST(NodeTemplateTest, ValuesHaveTheLimitsOfParameters) {
  std::string text;
  for (int i = 0; i < 2'000; ++i) text += "{{workflow.run_id}}";
  const auto rendered = Rendered(text);
  ASSERT_FALSE(rendered.ok());
  EXPECT_EQ(rendered.error().pointer, "/parameters/p");
}

TEST(NodeTemplateTest, FindsParametersWithOutputs) {
  WorkflowNode node = Node("a");
  node.parameters = {{"one", std::string("x {{nodes.b.outputs.y}}")},
                     {"two", std::string("{{nodes.b.state}} {{workflow.parameters.z}}")},
                     {"three", int64_t{3}},
                     {"broken", std::string("{{")}};
  EXPECT_EQ(ParametersWithOutputs(node), std::set<std::string>{"one"});
}

TEST(CommandParametersTest, FollowsVariablesIntoTheCommand) {
  JobDefinition job;
  job.command = "run {{params.a}} {{env.V}} {{ params.c }} \"$CARILLON_PARAM_D\" {{fire_time}}";
  job.env = {{"V", "x {{params.b}}"}, {"W", "{{params.e}}"}};
  EXPECT_EQ(CommandParameters(job), (std::set<std::string>{"a", "b", "c"}));
  job.type = JobType::kNoop;
  EXPECT_TRUE(CommandParameters(job).empty());
}

}  // namespace
}  // namespace carillon::test
