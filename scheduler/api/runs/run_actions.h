// Lists the actions that a caller may take on a run, or on a node of a workflow run, now: those of
// the caller's permissions (allowed_actions.h), without those that the decisions of the domain
// would refuse.
//
// A process that may still run excludes nothing here, because the caller can confirm the overlap;
// only the skip of a node has no confirmation.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/ports/store/workflow_store.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Of "cancel", "decide", "execute", "give_up", "release", "retry" and "skip". A workflow's run can
// be retried from its start, so it needs no failure; it is decided if one of its nodes can be.
// "execute" is about the job: the caller may run it again, whatever the state of this run. So the
// list is empty only if the caller may not act on the run, or if its job is deleted.
Outcome<nlohmann::json> ActionsOnRun(const Call& call, const RunDetail& run);

// The nodes of a workflow run, as far as actions depend on them.
struct JudgedWorkflow {
  const WorkflowRunView& view;
  const WorkflowGraph& graph;
  const NodeRows& rows;
  bool is_late = false;  // its deadline has passed
};
// Cluster time; if it is unknown, a time at which nothing is late. A run is shown without it, too.
WallTime TimeOf(const Call& call);
bool IsLate(const Call& call, const WorkflowRunView& view, WallTime now);
// Of "decide", "release", "retry" and "skip", by the caller's permissions on the workflow's run.
nlohmann::json ActionsOnNode(const Call& call, const nlohmann::json& permitted,
                             const JudgedWorkflow& workflow, size_t position, WallTime now);

}  // namespace carillon::scheduler
