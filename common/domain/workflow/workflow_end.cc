#include "common/domain/workflow/workflow_end.h"

#include <utility>
#include <vector>

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

// A cancel ends nodes that have not failed, and the error of the run says who it was.
std::vector<size_t> NamedFailures(const WorkflowEnd& end, const NodeRows& rows) {
  std::vector<size_t> named = end.failures;
  if (end.state != RunState::kCancelled) return named;
  std::erase_if(named, [&](size_t i) { return rows[i].state == RunState::kCancelled; });
  return named;
}

// The end without the times.
AttemptResult ResultOf(const WorkflowEnd& end, const WorkflowGraph& graph, const NodeRows& rows,
                       const WorkflowFacts& facts) {
  AttemptResult result{.state = end.state, .reason = std::string(ReasonOf(end.state))};
  const std::vector<size_t> named = NamedFailures(end, rows);
  if (!named.empty()) result.error = FailureSentence(graph, named);
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
