// A workflow's definition, compiled for decisions: edges by position of their nodes, conditions
// parsed, nodes in an order in which all upstream come first. Immutable.
//
// Always   No edge is between a finally node and another one.
// Threads  Thread-safe once compiled.
// Owns     A copy of the definition.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/condition/condition.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

class WorkflowGraph {
 public:
  struct Edge {
    size_t from = 0;  // positions in the definition
    size_t to = 0;
    EdgeOn on = EdgeOn::kSuccess;
    bool recovers = false;
    std::optional<Condition> condition = {};
  };

  // kCorrupt: the definition has a mistake that CheckWorkflow reports, such as a cycle.
  static Result<WorkflowGraph> Compile(WorkflowDefinition definition);

  size_t size() const { return definition_.nodes.size(); }
  int64_t max_parallel() const { return definition_.max_parallel; }
  Duration finally_timeout() const { return std::chrono::seconds(definition_.finally_timeout_s); }
  const std::map<std::string, std::string>& outputs() const { return definition_.outputs; }
  const WorkflowNode& node(size_t position) const { return definition_.nodes[position]; }
  bool is_finally(size_t position) const { return definition_.nodes[position].is_finally; }
  std::optional<size_t> Find(std::string_view id) const;

  const std::vector<Edge>& edges() const { return edges_; }
  // Indices in edges().
  const std::vector<size_t>& upstream(size_t position) const { return upstream_[position]; }
  const std::vector<size_t>& downstream(size_t position) const { return downstream_[position]; }
  // All positions, each after those of its upstream nodes.
  const std::vector<size_t>& order() const { return order_; }

 private:
  explicit WorkflowGraph(WorkflowDefinition definition);

  Status AddEdge(size_t to, const WorkflowEdge& edge);
  Status Sort();

  WorkflowDefinition definition_;
  std::map<std::string, size_t, std::less<>> positions_;
  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> upstream_;
  std::vector<std::vector<size_t>> downstream_;
  std::vector<size_t> order_;
};

}  // namespace carillon
