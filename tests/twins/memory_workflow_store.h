// The port WorkflowStore in memory. The rules are those of common/domain/workflow.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "common/ports/store/workflow_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryWorkflowStore final : public WorkflowStore {
 public:
  explicit MemoryWorkflowStore(MemoryTables& tables) : tables_(tables) {}

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
  Result<WorkflowRunView> ViewOf(const WorkflowEntry& workflow) REQUIRES(tables_.mu);
  // The workflow run, if it has begun and is open; otherwise null.
  WorkflowEntry* OpenOf(const StepRequest& request) REQUIRES(tables_.mu);
  // The numbers of the runs of which one of `requests` is a node.
  std::set<uint64_t> OuterRunsOf(const std::vector<StepRequest>& requests) REQUIRES(tables_.mu);
  StepEffect StepOne(const WorkflowRunId& run, const WorkflowGraph& graph, WallTime now)
      REQUIRES(tables_.mu);
  template <typename IsTold>
  void DropWakeUps(const WorkflowRunId& run, IsTold is_told) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
