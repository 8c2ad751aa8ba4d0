// Writes the decisions of one step of a workflow run, in the caller's transaction, and keeps the
// rows of the nodes that the step has read up to date.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/adapters/mysql/database/version_cache.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/workflow/released_runs.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/adapters/mysql/workflow/workflow_step_batch.h"
#include "common/domain/template/node_template.h"
#include "common/domain/workflow/workflow_step.h"

namespace carillon::mysql {

// All that a step reads, before it locks runs.
struct StepReads {
  WorkflowRow row;
  SharedVersion version;  // with a graph
  NodeStates nodes;
  WorkflowFacts workflow = {};
  StepFacts facts = {};  // refers to `workflow`

  const WorkflowGraph& graph() const { return *version->graph; }
};

// Shared by the steps of one transaction.
class StepShare {
 public:
  StepShare(Session& a_session, const StepWrite& the_rules)
      : session(a_session), rules(the_rules), writer(a_session) {}

  // Locks these jobs, those of the nodes that may be released, and then these runs. Reads what
  // releases need; `workflows` have them.
  Status Lock(std::vector<JobNo> job_nos, std::vector<RunKey> keys,
              const std::set<JobNo>& workflows);
  // The people of a workflow run. `parameters` are those of its row.
  Result<std::vector<Backer>> BackersOf(JobNo workflow, const std::string& parameters);
  // Null: the job is gone, or its definition cannot be read.
  const JobDefinition* DefinitionOf(JobNo job_no) const;
  Status Flush();

  Session& session;
  const StepWrite& rules;
  LockedJobs jobs = {};
  LockedRuns runs = {};
  RunWriter writer;
  ReleasedRuns released = {};
  std::vector<WorkflowRow> stopped = {};  // nested runs, which take a step next

 private:
  std::map<JobVersionKey, SharedVersion> definitions_;  // the present ones; tasks' are in the graph
  std::map<JobNo, Backer> owners_;
};

class StepWriter {
 public:
  // `mode`: of the cancel of the own run.
  StepWriter(StepShare& share, StepReads& reads, CancelMode mode)
      : share_(share), reads_(reads), mode_(mode) {}

  Status Apply(const NodeDecision& decision, StepEffect* effect);
  Status EndOwn(StoredRun& own, const WorkflowEnd& end, StepEffect* effect);
  // True if the node could not be released, because its job cannot be read.
  bool WaitsForItsJob(size_t position) const { return unreadable_.contains(position); }

 private:
  bool IsFull() const { return released_bytes_ >= kReleasedBytesPerStep; }
  Status AddReleased(const StoredRun& run, const NodeRelease& release, WallTime until = {});
  Status Release(size_t position, StoredRun& run, StepEffect* effect);
  // A node that starts without a process.
  Status Open(const NodeDecision& decision, StoredRun& run, StepEffect* effect);
  Status Finish(const NodeDecision& decision, StoredRun& run);
  // Gives the run what its release has decided besides the parameters.
  static void TakeRelease(const NodeRelease& release, RunRow& run);
  Status End(size_t position, StoredRun& run, RunState state, std::string_view reason,
             std::string_view error);
  // Asks a run that has started to stop. A nested workflow run stops its own nodes in its
  // next step.
  Status Stop(size_t position, StoredRun& run, StepEffect* effect);

  StepShare& share_;
  StepReads& reads_;
  const CancelMode mode_;
  size_t released_bytes_ = 0;  // of this step
  bool knows_backers_ = false;
  std::set<size_t> unreadable_;  // positions of nodes
};

}  // namespace carillon::mysql
