// Rows of workflow_runs, with the runs of the nodes and the definition.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/workflow/workflow_graph.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::mysql {

struct WorkflowRow {
  WorkflowRunId id;
  RunKey own;
  JobNo job_no;
  SegmentId segment;
  bool open = true;
  int64_t def_version = 0;
  WallTime deadline = kNever;
  bool timed_out = false;
  WallTime finally_since = WallTime{};  // when only finally nodes were left; zero: not yet
  uint64_t replaced_by = 0;     // the number of the workflow run with which its own run began anew
  std::string parameters = {};  // GivenFromText
};

enum class WorkflowLock { kNone, kUpdate };
// nullopt: there is no such workflow run.
Result<std::optional<WorkflowRow>> ReadWorkflow(Session& session, uint64_t no, WorkflowLock lock);
// Several, in the order of their numbers; those that do not exist are absent.
Result<std::map<uint64_t, WorkflowRow>> ReadWorkflows(Session& session,
                                                      const std::set<uint64_t>& numbers,
                                                      WorkflowLock lock);
// The present workflow run, which no other one has replaced. nullopt: the run is not of a workflow,
// or has not begun yet.
Result<std::optional<WorkflowRow>> ReadWorkflowOf(Session& session, const RunKey& own,
                                                  WorkflowLock lock);
Status InsertWorkflow(Session& session, const WorkflowRow& row);
// Writes `open`, `deadline`, `timed_out` and `finally_since`.
Status UpdateWorkflow(Session& session, const WorkflowRow& row);
// Ends the workflow run `row` because its own run begins anew as number `no`.
Status ReplaceWorkflow(Session& session, const WorkflowRow& row, uint64_t no);

// The definition of one version. kCorrupt: it is unreadable, gone, or not a workflow's.
struct LoadedWorkflow {
  JobVersionRecord record;
  WorkflowGraph graph;
};
Result<LoadedWorkflow> LoadWorkflow(Session& session, const JobVersionKey& key);

// The runs of the nodes, in the order of the definition, with what decisions need of them.
struct NodeStates {
  std::vector<StoredRun> runs = {};
  NodeRows rows = {};
};
struct NodesWanted {
  const WorkflowRow* row = nullptr;
  size_t count = 0;  // of nodes
};
// Without locks, in the order of `runs`. kCorrupt: a run is missing or unreadable.
Result<std::vector<NodeStates>> ReadNodesOf(Session& session, const std::vector<NodesWanted>& runs,
                                            Incarnations& incarnations);
Result<NodeStates> ReadNodes(Session& session, const WorkflowRow& row, size_t count,
                             Incarnations& incarnations);

// Own runs, without locks. Those that are gone or unreadable are absent.
Result<std::map<RunKey, StoredRun>> ReadOwns(Session& session, const std::vector<RunKey>& keys,
                                             Incarnations& incarnations);
Result<std::optional<StoredRun>> ReadOwn(Session& session, const RunKey& key,
                                         Incarnations& incarnations);

// The keys of the nodes' runs that have not ended.
Result<std::vector<RunKey>> ReadOpenNodes(Session& session, const WorkflowRow& row);

// The members of `owns` below which, at whatever depth, a process may still run of a node that has
// ended. Runs that are not of workflows are never among them.
Result<std::set<RunKey>> WithProcessesLeft(Session& session, const std::vector<RunKey>& owns);

// Adds a wake-up that tells of no node's end.
Status WriteWakeUp(Session& session, const WorkflowRow& row, WallTime now);

// Follows the workflow runs outwards: the own run of the outermost one that has `own` as a node,
// directly or not; `own` itself if it is no node.
Result<RunKey> OutermostOf(Session& session, const RunKey& own);

}  // namespace carillon::mysql
