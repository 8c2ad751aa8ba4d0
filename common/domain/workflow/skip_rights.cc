#include "common/domain/workflow/skip_rights.h"

#include <vector>

#include "common/base/failpoint.h"

namespace carillon {

Status CheckMaySkipNode(const WorkflowGraph& graph, size_t position, const NodeRows* rows,
                        const Decider& who) {
  if (failpoint::Broken("approval.anybody_skips")) return {};
  std::vector<bool> seen(graph.size());
  std::vector<size_t> open = {position};
  seen[position] = true;
  while (!open.empty()) {
    const size_t one = open.back();
    open.pop_back();
    const bool passed =
        one != position && rows != nullptr && EndOf((*rows)[one]) == NodeEnd::kSuccess;
    const std::optional<Approval>& approval = graph.node(one).approval;
    if (approval && !passed) CARILLON_TRY(CheckMayDecide(*approval, who));
    for (const size_t edge : graph.upstream(one)) {
      const size_t from = graph.edges()[edge].from;
      if (!seen[from]) open.push_back(from);
      seen[from] = true;
    }
  }
  return {};
}

}  // namespace carillon
