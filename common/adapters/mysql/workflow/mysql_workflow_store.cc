#include "common/adapters/mysql/workflow/mysql_workflow_store.h"

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/workflow/parts_begin.h"
#include "common/adapters/mysql/workflow/workflow_begin.h"
#include "common/adapters/mysql/workflow/workflow_control.h"
#include "common/adapters/mysql/workflow/workflow_step_batch.h"

namespace carillon::mysql {

namespace {

// The workflow run after a request, which is settled with this answer if it has a key.
Result<WorkflowRunView> AnswerWith(Session& session, const RunKey& own,
                                   const std::optional<KeyedAnswer<WorkflowRunView>>& keyed,
                                   Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(WorkflowRunView view, ReadView(session, own, incarnations));
  if (keyed) {
    CARILLON_TRY(SettleRequest(session, keyed->scope, keyed->key, keyed->answer(view)));
  }
  return view;
}

}  // namespace

Result<BeginReply> MysqlWorkflowStore::Begin(const ClaimRequest& request, const Fence& fence,
                                             WallTime now) {
  CARILLON_TRY(CheckBatch(std::vector<ClaimRequest>{request}, fence, "begin"));
  CARILLON_ASSIGN_OR_RETURN(const uint64_t no,
                            db_.caches().ids.Next(db_.pool(), "workflow_run", 1));
  const std::vector<uint32_t> no_incarnation = {0};
  const ClaimRules rules{db_.caches().incarnations, db_.caches().plain, no_incarnation, fence, now};
  // A duplicate key: another run took the same slot of the job meanwhile.
  return InTransaction(
      db_.pool(), {.operation = "begin", .retry_duplicates = true},
      [&](Session& session) { return BeginWorkflow(session, request, rules, no); });
}

Result<PartsReply> MysqlWorkflowStore::BeginParts(const PartsRequest& request, const Fence& fence,
                                                  WallTime now) {
  CARILLON_TRY(CheckBatch(std::vector<ClaimRequest>{request.claim}, fence, "begin"));
  const std::vector<uint32_t> no_incarnation = {0};
  const ClaimRules rules{db_.caches().incarnations, db_.caches().plain, no_incarnation, fence, now};
  return InTransaction(db_.pool(), {.operation = "begin", .retry_duplicates = true},
                       [&](Session& session) { return BeginPartsOf(session, request, rules); });
}

Result<std::vector<WakeUp>> MysqlWorkflowStore::ScanWakeUps(const std::vector<SegmentId>& segments,
                                                            size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<WakeUp>();
  return InRead(db_.pool(), "scan wake-ups",
                [&](Session& session) { return ReadWakeUps(session, segments, limit); });
}

Result<std::vector<OpenWorkflowRun>> MysqlWorkflowStore::ScanOpen(
    const std::vector<SegmentId>& segments, uint64_t after, size_t limit) {
  if (segments.empty() || limit == 0) return std::vector<OpenWorkflowRun>();
  return InRead(db_.pool(), "scan workflow runs", [&](Session& session) {
    return ReadOpenWorkflows(session, segments, after, limit);
  });
}

Result<std::vector<StepEffect>> MysqlWorkflowStore::Step(const std::vector<StepRequest>& requests,
                                                         const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(requests, fence, "step"));
  StoreCaches& caches = db_.caches();
  return InTransaction(db_.pool(), {.operation = "step"}, [&](Session& session) {
    return StepRuns(session, requests, {caches.incarnations, caches.versions, fence, now});
  });
}

Result<WorkflowRunView> MysqlWorkflowStore::GetWorkflowRun(const RunKey& key) {
  return InRead(db_.pool(), "workflow run", [&](Session& session) {
    return ReadView(session, key, db_.caches().incarnations);
  });
}

Result<WorkflowRunView> MysqlWorkflowStore::DecideNode(const DecideNodeRequest& request,
                                                       const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "decide node"}, [&](Session& session) -> Result<WorkflowRunView> {
        CARILLON_TRY(DecideNodeOf(session, request, context, db_.caches().incarnations));
        return AnswerWith(session, request.key, request.keyed, db_.caches().incarnations);
      });
}

Result<WorkflowRunView> MysqlWorkflowStore::SkipNode(const SkipNodeRequest& request,
                                                     const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "skip node"}, [&](Session& session) -> Result<WorkflowRunView> {
        CARILLON_TRY(
            SkipNodeOf(session, request.key, request.node, context, db_.caches().incarnations));
        return AnswerWith(session, request.key, request.keyed, db_.caches().incarnations);
      });
}

Result<RetryPlan> MysqlWorkflowStore::PreviewRetry(const RunKey& key, const WorkflowRetry& retry) {
  return InRead(db_.pool(), "preview retry", [&](Session& session) -> Result<RetryPlan> {
    CARILLON_ASSIGN_OR_RETURN(auto waiting, WaitingNode(session, key, db_.caches().incarnations));
    if (waiting) return RetryPlan{.run_again = {std::move(*waiting)}};
    CARILLON_ASSIGN_OR_RETURN(const auto target, TargetOfRetry(session, key, retry));
    if (!target) {
      return {ErrorCode::kNotFound,
              "run " + EncodeRunId(key) + " is not of a workflow, or has not begun"};
    }
    CARILLON_ASSIGN_OR_RETURN(
        const PlannedRetry planned,
        PlanRetryOf(session, *target, db_.caches().incarnations, WorkflowLock::kNone));
    return planned.plan;
  });
}

}  // namespace carillon::mysql
