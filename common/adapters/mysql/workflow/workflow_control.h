// Requests of users about workflow runs, in the caller's transaction: cancel, retry, skip, and
// the view.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"

namespace carillon::mysql {

// After a cancel of its own run: cancels the runs of its nodes. Returns the own runs of nested
// workflow runs among them, whose nodes must be cancelled next. Does nothing to a run that is not a
// workflow's, has not begun, has ended, or was not cancelled.
Result<std::vector<RunKey>> CancelNodes(Session& session, const RunKey& own,
                                        const WriteContext& context, Incarnations& incarnations);

// The id of the node if the run is a node's that was released and waits, for example for its next
// attempt: to run now it needs no plan of its workflow, but what any such run needs
// (DecideRetryByHand).
Result<std::optional<std::string>> WaitingNode(Session& session, const RunKey& key,
                                               Incarnations& incarnations);

// The workflow run and the choice of nodes that a retry of `key` means.
struct WorkflowTarget {
  RunKey own;
  WorkflowRetry retry;
  // Who retries it, asked about approvals that are skipped; nullopt: it is only planned.
  std::optional<Decider> decider = {};
};
// nullopt: `key` is neither the run of a workflow that has begun, nor a node's.
Result<std::optional<WorkflowTarget>> TargetOfRetry(Session& session, const RunKey& key,
                                                    const WorkflowRetry& retry);
// Plans a retry, as RunStore::RetryRun describes.
struct PlannedRetry {
  WorkflowRow row;
  NodeStates nodes;
  RetryPlan plan;
  bool own_ended = false;
  std::vector<PlannedRetry> nested;  // of nodes that are workflows and continue
};
Result<PlannedRetry> PlanRetryOf(Session& session, const WorkflowTarget& target,
                                 Incarnations& incarnations, WorkflowLock lock);
// Plans and writes it.
Status RetryWorkflow(Session& session, const WorkflowTarget& target, const WriteContext& context,
                     Incarnations& incarnations);

Status SkipNodeOf(Session& session, const RunKey& own, const std::string& node,
                  const WriteContext& context, Incarnations& incarnations);

// Implements WorkflowStore::DecideNode, without the view.
Status DecideNodeOf(Session& session, const DecideNodeRequest& request, const WriteContext& context,
                    Incarnations& incarnations);

Result<WorkflowRunView> ReadView(Session& session, const RunKey& own, Incarnations& incarnations);

}  // namespace carillon::mysql
