#include "common/domain/workflow/workflow_end.h"

#include <utility>

#include "common/domain/workflow/workflow_release.h"

namespace carillon {
namespace {

std::string_view ReasonOf(RunState state) {
  switch (state) {
    case RunState::kFailed: return reason::kNodeFailed;
    case RunState::kTimedOut: return reason::kTimeout;
    case RunState::kCancelled: return reason::kCancelRequested;
    default: return "";
  }
}

// The end without the times.
AttemptResult ResultOf(const WorkflowEnd& end, const WorkflowGraph& graph, const NodeRows& rows,
                       const WorkflowFacts& facts) {
  AttemptResult result{.state = end.state, .reason = std::string(ReasonOf(end.state))};
  if (!end.failures.empty()) result.error = FailureSentence(graph, end.failures);
  if (end.state != RunState::kCompleted) return result;
  auto outputs = RenderWorkflowOutputs(graph, rows, facts);
  if (outputs.ok()) {
    result.outputs = std::move(*outputs);
  } else {
    result.state = RunState::kFailed;
    result.reason = reason::kBadOutputs;
    result.error = outputs.error().message;
  }
  return result;
}

}  // namespace

WorkflowEnding EndingOf(const RunRow& own, const WorkflowEnd& end, const WorkflowGraph& graph,
                        const NodeRows& rows, const WorkflowFacts& facts, WallTime now) {
  AttemptResult result = ResultOf(end, graph, rows, facts);
  result.started = own.claimed;
  result.ended = now;
  return {.change = {.state = result.state,
                     .attempt = own.attempt,
                     .def_version = own.def_version,
                     .reason = result.reason,
                     .store_result = true,
                     .dead_letter =
                         result.state == RunState::kFailed || result.state == RunState::kTimedOut},
          .result = std::move(result)};
}

}  // namespace carillon
