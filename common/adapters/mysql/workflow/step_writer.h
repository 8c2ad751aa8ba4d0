// Writes the decisions of one step of a workflow run, in the caller's transaction, and keeps the
// rows of the nodes that the step has read up to date.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
  LoadedWorkflow loaded;
  NodeStates nodes;
  WorkflowFacts workflow = {};
  StepFacts facts = {};  // refers to `workflow`
};

class StepWriter {
 public:
  // `mode`: of the cancel of the own run.
  StepWriter(Session& session, StepReads& reads, LockedRuns& runs, const StepWrite& rules,
             CancelMode mode)
      : session_(session),
        reads_(reads),
        runs_(runs),
        rules_(rules),
        mode_(mode),
        writer_(session) {}

  // Reads what releases need. `jobs` are those of the nodes that may be released, locked; they must
  // outlive the writer.
  Status Load(const LockedJobs& jobs);
  Status Apply(const NodeDecision& decision, StepEffect* effect);
  Status EndOwn(StoredRun& own, const WorkflowEnd& end, StepEffect* effect);
  Status Flush();
  // True if the node could not be released, because its job cannot be read.
  bool WaitsForItsJob(size_t position) const { return unreadable_.contains(position); }

 private:
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

  Session& session_;
  StepReads& reads_;
  LockedRuns& runs_;
  const StepWrite& rules_;
  const CancelMode mode_;
  RunWriter writer_;
  ReleasedRuns released_;
  const LockedJobs* jobs_ = nullptr;
  std::map<JobNo, JobVersionRecord> definitions_;
  std::set<size_t> unreadable_;  // positions of nodes
  std::vector<WorkflowRow> stopped_;
};

}  // namespace carillon::mysql
