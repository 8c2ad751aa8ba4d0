// Renders the parameters that a workflow gives to the job of a node. Pure.
//
//   {{nodes.ID.outputs.NAME}} {{nodes.ID.state}} {{nodes.ID.exit_code}}    of an upstream node
//   {{workflow.parameters.NAME}} {{workflow.run_id}}
//   {{workflow.state}}    of a finally node: completed, failed, cancelled or timed_out
//   {{fire_time}} {{fire_date}} {{fire_time.local}}    of the workflow run (fire_date.h)
//
// Grammar as in the templates of jobs: {{{{ stands for a literal {{. A text that is nothing but one
// placeholder takes the value with its type: a workflow parameter keeps its own, exit_code is a
// whole number. Everything else becomes text. Values are inserted unchanged and are not templates
// themselves. Names of parameters are no templates.
//
// Text from outside is untrusted: outputs, and parameters that the workflow run has from an event
// or from the outputs of another run. A value that contains some is untrusted as a whole, and must
// not become part of a command (command_parameters.h).
//
// Errors   kInvalid with the pointer ("/parameters/path"): a placeholder is unknown, has no value
//          or is not closed, or the values break the limits of parameters.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/domain/access/standing.h"
#include "common/domain/event/event.h"
#include "common/domain/run_id.h"
#include "common/domain/template/template.h"
#include "common/domain/workflow/node_rules.h"
#include "common/domain/workflow/workflow_graph.h"

namespace carillon {

// A placeholder of a node's parameter.
struct NodeExpression {
  enum class Kind {
    kOutput,
    kState,
    kExitCode,
    kWorkflowParameter,
    kWorkflowRunId,
    kWorkflowState,
    kFire
  };

  Kind kind = Kind::kWorkflowRunId;
  std::string node = {};  // kOutput, kState, kExitCode
  std::string name = {};  // of the output or the parameter; kFire: the placeholder

  bool operator==(const NodeExpression&) const = default;
};
Result<NodeExpression> ParseNodeExpression(std::string_view text);

// All placeholders of a value, in order. kInvalid: one is malformed. Numbers and booleans
// have none.
Result<std::vector<NodeExpression>> ExpressionsOf(const ParameterValue& value);

// A text of a node with placeholders of this file.
struct NodeText {
  std::string pointer = {};  // below the node: "/parameters/path", "/approval/message"
  ParameterValue value = {};
};
std::vector<NodeText> TextsOf(const WorkflowNode& node);

// Names of the parameters that contain an output, with that of the item of a mapped node. Values
// that cannot be parsed contain none.
std::set<std::string> ParametersWithOutputs(const WorkflowNode& node);

// The workflow run of which the node is a part.
struct WorkflowFacts {
  RunKey run;
  Parameters parameters = {};            // merged with the defaults of the workflow's job
  std::set<std::string> untrusted = {};  // names of those whose text comes from outside
  std::vector<Backer> backers = {};      // its owner, and whoever gave it parameters
  std::string time_zone = {};            // kept with the run; empty: it was not
  std::optional<RunState> state = {};    // of the nodes that are not finally; nullopt: they go on
};

struct RenderedParameters {
  Parameters values = {};
  std::set<std::string> untrusted = {};
  std::set<std::string> given_by = {};     // ids of users
  std::string time_zone = {};              // of the fire, if it is kept with the run (fire_zone.h)
  std::optional<EventOrigin> event = {};   // that started the run
  std::vector<ParameterValue> items = {};  // of a mapped node

  bool operator==(const RenderedParameters&) const = default;
};
// With the items of a mapped node; they are as untrusted as its list, under the name `as`.
//
// An upstream node that has not ended yet (possible under trigger rules other than `all`), or that
// was skipped, has a state but no exit code and no outputs; PENDING and RUNNING are states too. In
// a finally node, but for its list, a missing value of a node that is not COMPLETED is empty.
Result<RenderedParameters> RenderNodeParameters(const WorkflowGraph& graph, size_t position,
                                                const NodeRows& rows, const WorkflowFacts& facts);

// The message of an approval, as its parameter `message`.
Result<RenderedParameters> RenderApproval(const WorkflowGraph& graph, size_t position,
                                          const NodeRows& rows, const WorkflowFacts& facts);

// The outputs of the workflow run itself (WorkflowDefinition::outputs). One whose placeholder has
// no value is left out. kInvalid: they are larger than outputs may be.
Result<Outputs> RenderWorkflowOutputs(const WorkflowGraph& graph, const NodeRows& rows,
                                      const WorkflowFacts& facts);

}  // namespace carillon
