// The port WorkflowStore on MariaDB or MySQL: the table workflow_runs, and the runs of nodes
// in job_runs.
//
// Always   Lock order as in sql/README.md: segments, workflow_runs, jobs, runs.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::mysql {

class MysqlWorkflowStore final : public WorkflowStore {
 public:
  explicit MysqlWorkflowStore(MysqlDatabase& db) : db_(db) {}

  Result<BeginReply> Begin(const ClaimRequest& request, const Fence& fence, WallTime now) override;
  Result<PartsReply> BeginParts(const PartsRequest& request, const Fence& fence,
                                WallTime now) override;
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override;
  Result<std::vector<OpenWorkflowRun>> ScanOpen(const std::vector<SegmentId>& segments,
                                                uint64_t after, size_t limit) override;
  Result<std::vector<StepEffect>> Step(const std::vector<StepRequest>& requests, const Fence& fence,
                                       WallTime now) override;
  Result<WorkflowRunView> GetWorkflowRun(const RunKey& key) override;
  Result<WorkflowRunView> DecideNode(const DecideNodeRequest& request,
                                     const WriteContext& context) override;
  Result<WorkflowRunView> SkipNode(const SkipNodeRequest& request,
                                   const WriteContext& context) override;
  Result<RetryPlan> PreviewRetry(const RunKey& key, const WorkflowRetry& retry) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
