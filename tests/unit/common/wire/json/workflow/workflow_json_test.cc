#include "common/wire/json/workflow/workflow_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/domain/workflow/workflow_graph.h"

namespace carillon::test {
namespace {

using nlohmann::json;

constexpr std::string_view kNightly = R"({
  "max_parallel": 16,
  "nodes": [
    {"id": "load", "job": "load-table",
     "parameters": {"region": "{{workflow.parameters.region}}", "rows": 5, "ratio": 0.5,
                    "dry": true}},
    {"id": "audit", "job": "audit-counts", "after": ["load"],
     "parameters": {"path": "{{nodes.load.outputs.file}}"}},
    {"id": "repair", "job": "repair",
     "after": [{"node": "audit", "on": "failure", "if": "exit_code == 3", "recovers": true}]},
    {"id": "publish", "job": "publish", "after": ["audit", "repair"], "trigger_rule": "any"},
    {"id": "report", "job": "report", "allow_failure": true, "trigger_rule": 2,
     "after": [{"node": "publish", "on": "done"}, {"node": "load"}]}
  ]})";

std::string ProblemsText(const ParsedWorkflow& parsed) {
  std::string text;
  for (const WorkflowProblem& problem : parsed.problems) {
    text += std::string(text.empty() ? "" : ", ") + std::string(Name(problem.code)) + " " +
            problem.pointer;
  }
  return text;
}

std::string Problems(const json& body) { return ProblemsText(ParseWorkflow(body)); }

TEST(WorkflowJsonTest, ReadsEveryField) {
  const ParsedWorkflow parsed = ParseWorkflow(json::parse(kNightly));
  ASSERT_EQ(ProblemsText(parsed), "");
  const WorkflowDefinition& workflow = parsed.definition;
  EXPECT_EQ(workflow.max_parallel, 16);
  ASSERT_EQ(workflow.nodes.size(), 5u);
  EXPECT_EQ(workflow.nodes[0].job, JobId("load-table"));
  EXPECT_EQ(workflow.nodes[0].parameters.at("rows"), ParameterValue(int64_t{5}));
  EXPECT_EQ(workflow.nodes[0].parameters.at("ratio"), ParameterValue(0.5));
  EXPECT_EQ(workflow.nodes[0].parameters.at("dry"), ParameterValue(true));
  EXPECT_EQ(workflow.nodes[1].after, (std::vector<WorkflowEdge>{{.node = "load"}}));
  const WorkflowEdge repair{
      .node = "audit", .on = EdgeOn::kFailure, .condition = "exit_code == 3", .recovers = true};
  EXPECT_EQ(workflow.nodes[2].after, std::vector<WorkflowEdge>{repair});
  EXPECT_EQ(workflow.nodes[2].trigger_rule.least, TriggerRule::kAll);
  EXPECT_EQ(workflow.nodes[3].trigger_rule.least, TriggerRule::kAny);
  EXPECT_EQ(workflow.nodes[4].trigger_rule.least, 2);
  EXPECT_TRUE(workflow.nodes[4].allow_failure);
  EXPECT_TRUE(WorkflowGraph::Compile(workflow).ok());
}

TEST(WorkflowJsonTest, WritesWhatItReads) {
  const ParsedWorkflow parsed = ParseWorkflow(json::parse(kNightly));
  const ParsedWorkflow again = ParseWorkflow(WorkflowToJson(parsed.definition));
  EXPECT_EQ(ProblemsText(again), "");
  EXPECT_EQ(again.definition, parsed.definition);
  const auto stored = WorkflowFromText(WorkflowToText(parsed.definition));
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(*stored, parsed.definition);
  // Defaults are left out.
  EXPECT_EQ(WorkflowToJson(parsed.definition)["nodes"][1]["after"], json::array({"load"}));
  EXPECT_FALSE(WorkflowToJson(parsed.definition)["nodes"][1].contains("trigger_rule"));
}

TEST(WorkflowJsonTest, ReportsAllFieldsThatCannotBeRead) {
  EXPECT_EQ(Problems({{"max_parallel", "many"},
                      {"node", 1},
                      {"nodes", {{{"id", "a"}, {"job", 3}, {"trigger_rule", "some"}, {"x", 1}}}}}),
            "bad_field /max_parallel, bad_field /node, bad_field /nodes/0/job, bad_field "
            "/nodes/0/trigger_rule, bad_field /nodes/0/x");
  EXPECT_EQ(Problems({{"max_parallel", 16.0}, {"nodes", {{{"id", "a"}, {"job", "j"}}}}}), "");
  EXPECT_EQ(Problems(json::array()), "bad_field ");
  EXPECT_EQ(Problems(json::object()), "bad_field /nodes");
  EXPECT_EQ(Problems({{"nodes", 1}}), "bad_field /nodes");
  EXPECT_EQ(Problems({{"nodes", json::array()}}), "limit /nodes");
  EXPECT_EQ(Problems({{"nodes", {1, json::object()}}}),
            "bad_field /nodes/0, bad_field /nodes/1/id, bad_field /nodes/1/job");
}

TEST(WorkflowJsonTest, ReportsMistakesOfFormAndOfMeaningTogether) {
  EXPECT_EQ(Problems({{"nodes",
                       {{{"id", "a"}, {"job", "j"}, {"allow_failure", 1}, {"after", {"b"}}},
                        {{"id", "b"}, {"job", "j"}, {"after", {"a"}}}}}}),
            "bad_field /nodes/0/allow_failure, cycle /nodes/1/after/0/node");
}

TEST(WorkflowJsonTest, DoesNotGuessAboutAGraphThatItCouldNotRead) {
  // Node b may be the one whose id is wrong.
  EXPECT_EQ(
      Problems(
          {{"nodes", {{{"id", "a"}, {"job", "j"}, {"after", {"b"}}}, {{"id", 7}, {"job", "No"}}}}}),
      "bad_field /nodes/1/id, bad_field /nodes/1/job");
}

TEST(WorkflowJsonTest, ReportsMistakesOfEdges) {
  const auto after = [](const json& edge) {
    return Problems({{"nodes",
                      {{{"id", "a"}, {"job", "j"}},
                       {{"id", "b"}, {"job", "j"}, {"after", json::array({edge})}}}}});
  };
  EXPECT_EQ(after("a"), "");
  EXPECT_EQ(after({{"node", "a"}, {"on", "done"}}), "");
  EXPECT_EQ(after({{"node", "a"}, {"on", "end"}}), "bad_field /nodes/1/after/0/on");
  EXPECT_EQ(after({{"node", "a"}, {"when", "done"}}), "bad_field /nodes/1/after/0/when");
  EXPECT_EQ(after({{"on", "done"}}), "bad_field /nodes/1/after/0/node");
  EXPECT_EQ(after({{"node", "a"}, {"if", ""}}), "bad_field /nodes/1/after/0/if");
  EXPECT_EQ(after({{"node", "a"}, {"if", "exit_code"}}), "bad_condition /nodes/1/after/0/if");
  EXPECT_EQ(after({{"node", "a"}, {"recovers", "yes"}}), "bad_field /nodes/1/after/0/recovers");
  EXPECT_EQ(after(3), "bad_field /nodes/1/after/0");
  EXPECT_EQ(after("c"), "unknown_node /nodes/1/after/0/node");
}

TEST(WorkflowJsonTest, AMisspeltFieldIsSuggested) {
  const ParsedWorkflow parsed =
      ParseWorkflow({{"nodes", {{{"id", "a"}, {"job", "j"}, {"allow_fail", true}}}}});
  ASSERT_EQ(parsed.problems.size(), 1u);
  EXPECT_EQ(parsed.problems[0].message,
            "unknown field 'allow_fail' in a node; did you mean 'allow_failure'?");
}

TEST(WorkflowJsonTest, TriggerRulesAreAllAnyOrANumber) {
  for (const json& rule : {json(0), json(-1), json(1.5), json("one"), json(nullptr)}) {
    EXPECT_EQ(Problems({{"nodes", {{{"id", "a"}, {"job", "j"}, {"trigger_rule", rule}}}}}),
              "bad_field /nodes/0/trigger_rule")
        << rule;
  }
  EXPECT_EQ(Problems({{"nodes",
                       {{{"id", "a"}, {"job", "j"}, {"trigger_rule", 18446744073709551615ULL}}}}}),
            "bad_trigger_rule /nodes/0/trigger_rule");
}

TEST(WorkflowJsonTest, SizeIsLimited) {
  json body{{"nodes", json::array()}};
  for (int i = 0; i < 40; ++i) {
    body["nodes"].push_back({{"id", "n" + std::to_string(i)},
                             {"job", "j"},
                             {"parameters", {{"p", std::string(32'000, 'x')}}}});
  }
  EXPECT_EQ(Problems(body), "limit ");
}

TEST(WorkflowJsonTest, AStoredTextMayHaveFieldsOfANewerVersion) {
  const auto stored = WorkflowFromText(
      R"({"nodes": [{"id": "a", "job": "j", "later": 1}], "max_parallel": 4, "later": {}})");
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->max_parallel, 4);
  EXPECT_EQ(WorkflowFromText("{").code(), ErrorCode::kCorrupt);
  EXPECT_EQ(WorkflowFromText(R"({"nodes": [{"id": 1, "job": "j"}]})").code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace carillon::test
