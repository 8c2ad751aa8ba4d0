#include "cli/runs/node_text.h"

#include <nlohmann/json.hpp>

#include "common/domain/run/run.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

void Append(std::string& list, const std::string& word) {
  list += (list.empty() ? "" : ", ") + word;
}

std::string TextIn(const json& object, const char* name) {
  const json value = object.is_object() ? object.value(name, json()) : json();
  return value.is_string() ? value.get<std::string>() : "";
}

std::string EdgeText(const json& edge) {
  std::string how;
  const std::string on = TextIn(edge, "on");
  if (!on.empty() && on != "success") Append(how, on);
  const std::string condition = TextIn(edge, "if");
  if (!condition.empty()) Append(how, "if " + condition);
  if (edge.is_object() && edge.value("recovers", json()) == true) Append(how, "recovers");
  return TextIn(edge, "node") + (how.empty() ? "" : " (" + how + ")");
}

json EdgesOf(const json& node) {
  json edges = node.value("after", json());
  return edges.is_array() ? edges : json::array();
}

bool IsOpen(const json& node, const char* kind) {
  return TextIn(node, "kind") == kind && TextIn(node, "state") == "PENDING";
}

// True if no node of the run starts before another ends.
bool IsFull(const json& run) {
  const json limit = run.is_object() ? run.value("max_parallel", json()) : json();
  if (!limit.is_number_integer()) return true;
  int64_t active = 0;
  for (const json& node : NodesOf(run)) {
    const auto state = ParseRunState(TextIn(node, "state"));
    const bool waits = !state.ok() || node.value("blocked", json()) == true ||
                       IsOpen(node, "approval") || IsOpen(node, "wait");
    if (!waits && !IsFinal(*state)) ++active;
  }
  return active >= limit.get<int64_t>();
}

// The reason why a blocked node has not started: other jobs, the open nodes before it, all other
// nodes, or max_parallel nodes that are active.
std::string WaitText(const json& node, bool is_full) {
  if (node.value("awaiting", json()) == true) return "waits for other jobs";
  std::string open;
  for (const json& edge : EdgesOf(node)) {
    if (TextIn(edge, "verdict") == "open") Append(open, TextIn(edge, "node"));
  }
  if (!open.empty()) return "waits for " + open;
  const bool last = node.value("finally", json()) == true;
  if (last) return "waits until all other nodes have ended";
  return is_full ? "waits until fewer nodes are active" : "starts next";
}

json WhyText(const json& node, bool is_full) {
  if (node.value("blocked", json()) == true) return WaitText(node, is_full);
  if (IsOpen(node, "approval")) return "waits for a decision";
  if (IsOpen(node, "wait")) return "waits for its time";
  return node.value("reason", json());
}

// {"succeeded": 2} as "2 succeeded".
json RuleText(const json& rule) {
  if (!rule.is_object()) return rule;
  const json least = rule.value("succeeded", json());
  return (least.is_string() ? least.get<std::string>() : least.dump()) + " succeeded";
}

}  // namespace

json NodesOf(const json& graph) {
  json nodes = graph.is_object() ? graph.value("nodes", json()) : json();
  return nodes.is_array() ? nodes : json::array();
}

bool HasFailed(const json& node) {
  const auto state = ParseRunState(TextIn(node, "state"));
  return state.ok() && (*state == RunState::kFailed || *state == RunState::kTimedOut ||
                        *state == RunState::kLost);
}

bool MakesRunFail(const json& run, const json& node) {
  if (!node.is_object() || node.value("failure", json()) != true) return false;
  const std::string cancelled(Name(RunState::kCancelled));
  return TextIn(run, "state") != cancelled || TextIn(node, "state") != cancelled;
}

void PrintNodes(Session& session, const json& graph, const View& view) {
  Printer print = session.Print();
  const bool rows = print.form() == Form::kTable || print.form() == Form::kName;
  if (!rows && !session.flags().quiet) return print.Object(graph, view);
  const bool is_full = IsFull(graph);
  json nodes = json::array();
  for (json node : NodesOf(graph)) {
    if (!node.is_object()) continue;
    std::string after;
    for (const json& edge : EdgesOf(node)) Append(after, EdgeText(edge));
    node["after_text"] = after.empty() ? json(nullptr) : json(after);
    node["why"] = WhyText(node, is_full);
    const std::string decider = TextIn(node.value("decision", json()), "by");
    if (!decider.empty()) node["decided_by"] = decider;
    if (node.value("finally", json()) == true) node["is_finally"] = true;
    if (node.contains("trigger_rule")) node["trigger_rule"] = RuleText(node["trigger_rule"]);
    nodes.push_back(std::move(node));
  }
  print.List({{"items", std::move(nodes)}}, view);
}

}  // namespace carillon::cli
