#include "common/domain/workflow/workflow_end.h"

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

}  // namespace

WorkflowEnding EndingOf(const RunRow& own, const WorkflowEnd& end, const WorkflowGraph& graph,
                        const NodeRows& rows, const WorkflowFacts& facts, WallTime now) {
  (void)rows;
  (void)facts;
  const std::string why(ReasonOf(end.state));
  return {
      .change = {.state = end.state,
                 .attempt = own.attempt,
                 .def_version = own.def_version,
                 .reason = why,
                 .store_result = true,
                 .dead_letter = end.state == RunState::kFailed || end.state == RunState::kTimedOut},
      .result = {
          .state = end.state,
          .reason = why,
          .error = end.failures.empty() ? std::string() : FailureSentence(graph, end.failures),
          .started = own.claimed,
          .ended = now}};
}

}  // namespace carillon
