// Nodes of a workflow run: their states, the skip of one, and decisions about approvals.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

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
                          {"MESSAGE", "message"},
                          {"ERROR", "error"},
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
      if (MakesRunFail(nodes.body, node)) failed.push_back(node);
    }
    nodes.body["nodes"] = std::move(failed);
  }
  PrintNodes(session, nodes.body, NodeView());
  return ExitCode::kDone;
}

// Shows what became of the node; programs get all of them. Workflows may have hundreds.
void PrintNode(Session& session, json graph, const std::string& id) {
  const Form form = session.Print().form();
  const bool rows = form == Form::kTable || form == Form::kName || session.flags().quiet;
  for (const json& node : NodesOf(graph)) {
    if (!rows || !node.is_object() || node.value("id", json()) != id) continue;
    graph["nodes"] = json::array({node});
    break;
  }
  PrintNodes(session, graph, NodeView());
}

Outcome<ExitCode> Skip(Session& session, const NodeArguments& arguments) {
  ApiRequest request{
      .method = "POST",
      .path = "/api/runs/" + Escape(arguments.run) + "/nodes/" + Escape(arguments.node) + "/skip",
      .body = json::object()};
  if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse nodes, session.Call(request));
  PrintNode(session, nodes.body, arguments.node);
  return ExitCode::kDone;
}

// The node of which `run` is the run; nullopt: it is no node's, or has nodes of its own.
Outcome<std::optional<NodeArguments>> NodeOfRun(Session& session, const std::string& run) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer,
                            session.Call({.path = "/api/runs/" + Escape(run)}));
  const auto text = [&answer](const char* name) {
    const json value = answer.body.is_object() ? answer.body.value(name, json()) : json();
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  NodeArguments found{.run = text("workflow_run_id"), .node = text("node")};
  const bool is_node = !found.run.empty() && !found.node.empty() && text("job_type") != "workflow";
  return is_node ? std::optional(std::move(found)) : std::nullopt;
}

Outcome<ApiResponse> SendDecision(Session& session, const NodeArguments& arguments,
                                  const char* decision) {
  ApiRequest request{
      .method = "POST",
      .path = "/api/runs/" + Escape(arguments.run) + "/nodes/" + Escape(arguments.node) + "/decide",
      .body = json{{"decision", decision}}};
  if (!arguments.reason.empty()) (*request.body)["reason"] = arguments.reason;
  return session.Call(request);
}

// Shows the question about which was decided.
void PrintMessage(Session& session, const json& graph, const std::string& node_id) {
  Printer print = session.Print();
  if (print.form() != Form::kTable || session.flags().quiet) return;
  for (const json& node : NodesOf(graph)) {
    if (!node.is_object() || node.value("id", json()) != node_id) continue;
    const json message = node.value("message", json());
    if (!message.is_string()) return;
    print.Line(node_id + ": " + Cell(message));
    print.Line("");
  }
}

// Lists of runs name the run of the node, so both that and the run of the workflow are taken.
Outcome<ExitCode> Decide(Session& session, NodeArguments arguments, const char* decision) {
  if (arguments.node.empty()) {
    CARILLON_ASSIGN_OR_RETURN(const auto found, NodeOfRun(session, arguments.run));
    if (!found) {
      return UsageFailure("Run " + arguments.run +
                          " is not that of a node: name one of its nodes with --node; `carillon "
                          "run nodes " +
                          arguments.run + "` lists them");
    }
    arguments.run = found->run;
    arguments.node = found->node;
  }
  auto nodes = SendDecision(session, arguments, decision);
  if (!nodes.ok() && nodes.error().code == "no_nodes") {
    const auto found = NodeOfRun(session, arguments.run);
    if (found.ok() && *found && (*found)->node == arguments.node) {
      arguments.run = (*found)->run;
      nodes = SendDecision(session, arguments, decision);
    }
  }
  if (!nodes.ok()) return nodes.error();
  PrintMessage(session, nodes->body, arguments.node);
  PrintNode(session, nodes->body, arguments.node);
  return ExitCode::kDone;
}

}  // namespace

void AddNodeCommands(CLI::App& run, Session& session) {
  const auto a = std::make_shared<NodeArguments>();  // shared by the subcommands' callbacks
  CLI::App* nodes = run.add_subcommand("nodes", "Show the nodes of a workflow run");
  nodes->add_option("run", a->run, "Run ID")->required();
  nodes->add_flag("--failed", a->failed,
                  "Only nodes that make the run fail, as its error names them");
  session.On(nodes, [&session, a] { return ShowNodes(session, *a); });
  CLI::App* skip = run.add_subcommand(
      "skip", "Skip a node of a workflow run that waits or has failed; it counts as a success");
  skip->add_option("run", a->run, "Run ID")->required();
  skip->add_option("--node", a->node, "ID of the node")->required()->check(NotEmpty);
  skip->add_option("--reason", a->reason, "Reason, kept in the audit log");
  session.On(skip, [&session, a] { return Skip(session, *a); });
  CLI::App* approve =
      run.add_subcommand("approve", "Approve a node of a workflow run that waits for a decision");
  approve->add_option("run", a->run, "Run ID of the node, or of the workflow")->required();
  approve->add_option("--node", a->node, "ID of the node, beside the run of the workflow")
      ->check(NotEmpty);
  approve->add_option("--reason", a->reason, "Reason, kept with the run and in the audit log");
  session.On(approve, [&session, a] { return Decide(session, *a, "approve"); });
  CLI::App* refuse = run.add_subcommand(
      "refuse", "Refuse a node of a workflow run that waits for a decision; it fails");
  refuse->add_option("run", a->run, "Run ID of the node, or of the workflow")->required();
  refuse->add_option("--node", a->node, "ID of the node, beside the run of the workflow")
      ->check(NotEmpty);
  refuse->add_option("--reason", a->reason, "Reason, kept with the run and in the audit log")
      ->required()
      ->check(NotEmpty);
  session.On(refuse, [&session, a] { return Decide(session, *a, "refuse"); });
}

}  // namespace carillon::cli
