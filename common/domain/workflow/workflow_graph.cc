#include "common/domain/workflow/workflow_graph.h"

#include <fmt/format.h>

#include <queue>
#include <utility>

namespace carillon {

WorkflowGraph::WorkflowGraph(WorkflowDefinition definition)
    : definition_(std::move(definition)), upstream_(size()), downstream_(size()) {}

Result<WorkflowGraph> WorkflowGraph::Compile(WorkflowDefinition definition) {
  WorkflowGraph graph(std::move(definition));
  for (size_t i = 0; i < graph.size(); ++i) {
    if (!graph.positions_.emplace(graph.node(i).id, i).second) {
      return Error{ErrorCode::kCorrupt, fmt::format("two nodes are named '{}'", graph.node(i).id)};
    }
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    for (const WorkflowEdge& edge : graph.node(i).after) CARILLON_TRY(graph.AddEdge(i, edge));
  }
  CARILLON_TRY(graph.Sort());
  return graph;
}

std::optional<size_t> WorkflowGraph::Find(std::string_view id) const {
  const auto found = positions_.find(id);
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

Status WorkflowGraph::AddEdge(size_t to, const WorkflowEdge& edge) {
  const auto from = Find(edge.node);
  if (!from) {
    return {ErrorCode::kCorrupt,
            fmt::format("node '{}' is after '{}', which does not exist", node(to).id, edge.node)};
  }
  if (is_finally(*from) != is_finally(to)) {
    return {ErrorCode::kCorrupt,
            fmt::format("node '{}' is after '{}', and only one of them is a finally node",
                        node(to).id, edge.node)};
  }
  std::optional<Condition> condition;
  if (!edge.condition.empty()) {
    auto parsed = Condition::Parse(edge.condition);
    if (!parsed.ok()) return {ErrorCode::kCorrupt, "condition: " + parsed.error().message};
    condition = std::move(*parsed);
  }
  upstream_[to].push_back(edges_.size());
  downstream_[*from].push_back(edges_.size());
  edges_.push_back({.from = *from,
                    .to = to,
                    .on = edge.on,
                    .recovers = edge.recovers,
                    .condition = std::move(condition)});
  return {};
}

Status WorkflowGraph::Sort() {
  std::vector<size_t> missing(size());  // upstream edges whose node is not in order_ yet
  std::queue<size_t> ready;
  for (size_t i = 0; i < size(); ++i) {
    missing[i] = upstream_[i].size();
    if (missing[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const size_t position = ready.front();
    ready.pop();
    order_.push_back(position);
    for (const size_t edge : downstream_[position]) {
      const size_t to = edges_[edge].to;
      if (--missing[to] == 0) ready.push(to);
    }
  }
  if (order_.size() == size()) return {};
  return {ErrorCode::kCorrupt, "the graph has a cycle"};
}

}  // namespace carillon
