// Decides about the release of a node whose upstream nodes let it start: the parameters of its run,
// or why it is skipped instead. Pure.
//
// All backers of the workflow run must be allowed to run the node's job now, because its definition
// and its parameters are theirs, and may become part of the job's command. The claim asks them
// again, for a node may wait for its job, for a slot or for its next attempt. If the node is a
// workflow and has parameters, they come from all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/domain/run/run_state.h"
#include "common/domain/template/node_template.h"

namespace carillon {

// One step releases no further node after so many bytes of rendered parameters: it is one
// transaction, which must fit into a packet of the database and not take long. The next step
// goes on.
inline constexpr size_t kReleasedBytesPerStep = 4u << 20;

struct NodeRelease {
  std::string_view skip = {};  // the reason; empty: the run becomes claimable
  std::string error = {};      // of a skip: a sentence for people; may be empty
  RenderedParameters parameters = {};
  uint32_t flags = 0;      // BehalfFlag: takes the place of run_flag::kOnBehalf in the run's flags
  std::string rules = {};  // RunRow::rules, and whether it has run_flag::kRules
};

// `job` and `definition` are those of the node's job now, locked; of a task, its text in the graph.
NodeRelease DecideRelease(const WorkflowGraph& graph, size_t position, const NodeRows& rows,
                          const WorkflowFacts& facts, const JobRow& job,
                          const JobDefinition& definition);

// Decides about an approval that opens: its parameter `message`, or why it is skipped instead; and
// about a wait, which has only the type among its rules.
NodeRelease DecideOpening(const WorkflowGraph& graph, size_t position, const NodeRows& rows,
                          const WorkflowFacts& facts);

// The sentence for the `error` of a workflow run that failed because of these nodes: at most ten of
// them by name.
std::string FailureSentence(const WorkflowGraph& graph, const std::vector<size_t>& failures);

}  // namespace carillon
