// Nodes of a workflow run: their states, the skip of one, and decisions about approvals.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/runs/commands.h"
#include "cli/runs/node_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct NodeArguments {
  std::string run;
  std::string node;
  std::string reason;
  bool failed = false;
};

const View& NodeView() {
  static const View view{{{"NODE", "id"},
                          {"KIND", "kind"},
                          {"STATE", "state"},
                          {"JOB", "job_id"},
                          {"RUN", "run_id"},
                          {"ATTEMPT", "attempt"},
                          {"STARTED", "started_at"},
                          {"ENDED", "ended_at"},
                          {"EXIT", "exit_code"},
                          {"WHY", "why"}},
                         "run_id",
                         {{"EXECUTOR", "executor_id"},
                          {"UNTIL", "until"},
                          {"DECIDED BY", "decided_by"},
                          {"AFTER", "after_text"}}};
  return view;
}

Outcome<ExitCode> ShowNodes(Session& session, const NodeArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(
      ApiResponse nodes, session.Call({.path = "/api/runs/" + Escape(arguments.run) + "/nodes"}));
  if (arguments.failed && nodes.body.is_object()) {
    json failed = json::array();
    for (const json& node : NodesOf(nodes.body)) {
      if (HasFailed(node)) failed.push_back(node);
    }
    nodes.body["nodes"] = std::move(failed);
  }
  PrintNodes(session, nodes.body, NodeView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Skip(Session& session, const NodeArguments& arguments) {
  ApiRequest request{
      .method = "POST",
      .path = "/api/runs/" + Escape(arguments.run) + "/nodes/" + Escape(arguments.node) + "/skip",
      .body = json::object()};
  if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse nodes, session.Call(request));
  PrintNodes(session, nodes.body, NodeView());
  return ExitCode::kDone;
}

Outcome<ExitCode> Decide(Session& session, const NodeArguments& arguments, const char* decision) {
  ApiRequest request{
      .method = "POST",
      .path = "/api/runs/" + Escape(arguments.run) + "/nodes/" + Escape(arguments.node) + "/decide",
      .body = json{{"decision", decision}}};
  if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse nodes, session.Call(request));
  PrintNodes(session, nodes.body, NodeView());
  return ExitCode::kDone;
}

}  // namespace

void AddNodeCommands(CLI::App& run, Session& session) {
  const auto a = std::make_shared<NodeArguments>();  // shared by the subcommands' callbacks
  CLI::App* nodes = run.add_subcommand("nodes", "Show the nodes of a workflow run");
  nodes->add_option("run", a->run, "Run ID")->required();
  nodes->add_flag("--failed", a->failed, "Only nodes that FAILED, TIMED_OUT or were LOST");
  session.On(nodes, [&session, a] { return ShowNodes(session, *a); });
  CLI::App* skip = run.add_subcommand(
      "skip", "Skip a node of a workflow run that waits or has failed; it counts as a success");
  skip->add_option("run", a->run, "Run ID")->required();
  skip->add_option("--node", a->node, "ID of the node")->required()->check(NotEmpty);
  skip->add_option("--reason", a->reason, "Reason, kept in the audit log");
  session.On(skip, [&session, a] { return Skip(session, *a); });
  CLI::App* approve =
      run.add_subcommand("approve", "Approve a node of a workflow run that waits for a decision");
  approve->add_option("run", a->run, "Run ID of the workflow")->required();
  approve->add_option("--node", a->node, "ID of the node")->required()->check(NotEmpty);
  approve->add_option("--reason", a->reason, "Reason, kept with the run and in the audit log");
  session.On(approve, [&session, a] { return Decide(session, *a, "approve"); });
  CLI::App* refuse = run.add_subcommand(
      "refuse", "Refuse a node of a workflow run that waits for a decision; it fails");
  refuse->add_option("run", a->run, "Run ID of the workflow")->required();
  refuse->add_option("--node", a->node, "ID of the node")->required()->check(NotEmpty);
  refuse->add_option("--reason", a->reason, "Reason, kept with the run and in the audit log")
      ->required()
      ->check(NotEmpty);
  session.On(refuse, [&session, a] { return Decide(session, *a, "refuse"); });
}

}  // namespace carillon::cli
