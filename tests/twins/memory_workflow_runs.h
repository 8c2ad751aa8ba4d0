// Reads and changes of workflow runs and of their nodes' runs that several stores share.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/workflow/workflow_retry.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// A workflow at a version. kCorrupt: the version is unreadable or gone, or not of a workflow.
Result<const JobDefinition*> WorkflowVersion(MemoryTables& tables, JobNo job_no, int64_t version)
    REQUIRES(tables.mu);
Result<WorkflowGraph> GraphOf(MemoryTables& tables, const WorkflowEntry& workflow)
    REQUIRES(tables.mu);

RunKey NodeKeyOf(const WorkflowEntry& workflow, size_t position);
// By position. Of a workflow run that housekeeping has not deleted, all of them.
std::vector<RunKey> NodeKeysOf(MemoryTables& tables, const WorkflowEntry& workflow)
    REQUIRES(tables.mu);
// True if a process may still run of the run's last attempt, or, if it is of a workflow, of a
// node's below it.
bool MayStillRunBelow(MemoryTables& tables, const RunEntry& entry) REQUIRES(tables.mu);
NodeRows NodeRowsOf(MemoryTables& tables, const WorkflowEntry& workflow) REQUIRES(tables.mu);

// Cancels the nodes of those of the runs that are cancelled ones of workflows that have begun,
// level by level, and wakes the workflows up.
void CancelNodesOf(MemoryTables& tables, std::vector<RunKey> cancelled, const WriteContext& context)
    REQUIRES(tables.mu);

// Drops the wake-ups of the workflow run that were written after the one with number `last`: the
// caller wakes it up itself, or acts on the ends at once.
void DropWakeUpsSince(MemoryTables& tables, const WorkflowRunId& run, uint64_t last)
    REQUIRES(tables.mu);

// Ends the run of an open node, or of a wait that is over when it opens.
void FinishNode(MemoryTables& tables, RunEntry node, const AttemptResult& result, WallTime now)
    REQUIRES(tables.mu);

// kDenied: one of the nodes is an approval that this person may not decide.
Status CheckMaySkipNodes(const WorkflowGraph& graph, const std::vector<std::string>& nodes,
                         const NodeRows* rows, const Decider& who);

// A retry may also block finally nodes again; their time begins anew.
void WriteNodeChanges(MemoryTables& tables, WorkflowEntry& workflow,
                      const std::vector<NodeChange>& changes, WallTime now) REQUIRES(tables.mu);

// The id of the node if the run is a node's that was released and waits.
std::optional<std::string> WaitingNode(MemoryTables& tables, const RunKey& key) REQUIRES(tables.mu);

struct WorkflowRetryPlan {
  WorkflowEntry* workflow = nullptr;
  RetryPlan plan;
  std::vector<WorkflowRetryPlan> nested = {};  // of nodes that are workflows and continue
};
// The retry of a workflow run or of a node's run; nullopt: the run is neither. Errors as
// RunStore::RetryRun. `who`: null if nothing will be written.
Result<std::optional<WorkflowRetryPlan>> PlanWorkflowRetry(MemoryTables& tables, const RunKey& key,
                                                           WorkflowRetry retry, const Decider* who)
    REQUIRES(tables.mu);
void WriteWorkflowRetry(MemoryTables& tables, const WorkflowRetryPlan& retry, WallTime now)
    REQUIRES(tables.mu);

}  // namespace carillon::memory
