// A second implementation of the rules of workflows, for comparison with the product's: it computes
// everything anew from the ends that were recorded, by node ids, until nothing changes. It knows
// neither the product's graph nor its language of conditions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/workflow/node_rules.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon::test {

// A condition with its meaning, for random workflows. nullopt: not computable.
struct ReferenceCondition {
  std::string_view text;
  std::optional<bool> (*holds)(const NodeRow& upstream);
};
const std::vector<ReferenceCondition>& ReferenceConditions();

// The fate of a node whose run has not ended by itself.
struct ReferenceFate {
  bool starts = false;
  std::string skipped = {};  // the reason; empty: it starts, or waits

  bool operator==(const ReferenceFate&) const = default;
};

// The final rows of nodes that were started, or were ended by a person or at their release; not
// those that the rules have skipped.
using ReferenceEnds = std::map<std::string, NodeRow>;

// The fates of all nodes that are neither in `ends` nor `running`. Opened ones are running.
std::map<std::string, ReferenceFate> ReferenceFates(const WorkflowDefinition& workflow,
                                                    const ReferenceEnds& ends,
                                                    const std::set<std::string>& running);

// nullopt: a node is still to be run. Else COMPLETED or FAILED.
std::optional<RunState> ReferenceResult(const WorkflowDefinition& workflow,
                                        const ReferenceEnds& ends);

// The ids of the nodes that are downstream of `id`, directly or not. Finally nodes are downstream
// of all others.
std::vector<std::string> ReferenceDownstream(const WorkflowDefinition& workflow,
                                             const std::string& id);

}  // namespace carillon::test
