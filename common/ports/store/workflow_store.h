// Port of workflow runs: the owner of a workflow's segment begins its runs and takes steps; any
// member shows them and skips nodes. Cancels and retries of them are those of RunStore. Runs that
// begin without an executor because they have parts begin here, too, and end in CompletionStore.
//
// A workflow run has an own run, of the workflow's job, and one run for each node, of that node's
// job. The state of a node is the state of its run; there is no second copy. The own run is RUNNING
// from its begin to its end, without an executor. When it begins anew (workflow_begin.h) it has
// another workflow run from then on; the one before and its nodes' runs are only history.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   As FiringStore for calls with a fence, as RunStore for the others. kCorrupt: the
//          definition of the run's version is unreadable or gone.
// Always   Each call is one transaction. Begin and Step change nothing when they are repeated after
//          an unknown outcome.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/nodes/approval.h"
#include "common/domain/parts/fan_out_places.h"
#include "common/domain/workflow/workflow_begin.h"
#include "common/domain/workflow/workflow_retry.h"
#include "common/domain/workflow/workflow_step.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/run_store.h"

namespace carillon {

// `no` is unique in the whole cluster; the fire is that of the own run and of all nodes' runs.
struct WorkflowRunId {
  WallTime fire;
  uint64_t no = 0;

  auto operator<=>(const WorkflowRunId&) const = default;
};

// The owner should take a step: a node's run has ended, or a request has changed something.
struct WakeUp {
  uint64_t id = 0;
  SegmentId segment;
  WorkflowRunId run;
  WallTime ended = WallTime{};  // when the node's run ended, or the request was made

  bool operator==(const WakeUp&) const = default;
};

struct OpenWorkflowRun {
  WorkflowRunId run;
  SegmentId segment;

  bool operator==(const OpenWorkflowRun&) const = default;
};

// The reply to Begin. kAccepted: it runs, and a wake-up for its first step is written.
struct BeginReply {
  ClaimVerdict verdict = ClaimVerdict::kRefused;
  ClaimReason reason = ClaimReason::kNone;
  WorkflowRunId run = {};              // if accepted
  BeginKind kind = BeginKind::kFirst;  // of kAccepted
};

// The reply to BeginParts.
// The begin of a fire whose job fans out.
struct PartsRequest {
  ClaimRequest claim;
  // Its places by a template for their number (Shards::total_from); nullopt: the job has none. The
  // claim names the version and the attempt whose parameters were rendered.
  std::optional<Places> rendered = {};
};

struct PartsReply {
  ClaimVerdict verdict = ClaimVerdict::kRefused;
  ClaimReason reason = ClaimReason::kNone;
  std::optional<RunKey> due = {};  // of kAccepted: one of the parts, all of which are due now
  // Of kAccepted: the own run has ended at once, because there were no places for its parts.
  std::optional<RunState> ended = {};
  bool completed = false;  // a completion of the own run was written
};

struct StepRequest {
  WorkflowRunId run;
  SegmentId segment;
  // The wake-ups of this run that were read before: they are deleted. The step reads the nodes
  // later, so it sees what they tell of.
  std::vector<uint64_t> wake_ups = {};
};

struct StepEffect {
  std::vector<RunRow> released =
      {};  // due now, of whatever segments; those of paused jobs are not here
  int64_t skipped = 0;
  int64_t cancelled = 0;
  int64_t stopping = 0;                // were asked to stop, and have not ended
  std::optional<RunState> ended = {};  // the own run ended
  bool freed_slot = false;             // a queued run of the workflow may be admitted
  bool completed = false;              // a completion of the own run was written
  bool again = false;                  // more is to be done; the next step need not wait
};

struct WorkflowNodeRun {
  RunDetail detail;  // without output and earlier attempts
  NodeRow row;
};

// A workflow run with all its nodes, in the order of the definition.
struct WorkflowRunView {
  RunDetail own;
  WorkflowRunId run;
  int64_t def_version = 0;
  WallTime deadline = kNever;  // kNever: it waits for its begin
  WorkflowDefinition definition;
  std::vector<WorkflowNodeRun> nodes;
};

struct SkipNodeRequest {
  RunKey key;  // of the own run
  std::string node;
  std::optional<KeyedAnswer<WorkflowRunView>> keyed = {};
};

struct DecideNodeRequest {
  RunKey key;  // of the own run
  std::string node;
  Decision decision = Decision::kApprove;  // or kRefuse
  std::optional<KeyedAnswer<WorkflowRunView>> keyed = {};
};

class WorkflowStore {
 public:
  virtual ~WorkflowStore() = default;

  // Decides by DecideClaim, for a request without an executor. If accepted, the own run becomes
  // RUNNING and takes its slots, and all nodes' runs are written, blocked (kBlocked); those of
  // deleted jobs are SKIPPED. KindOfBegin decides about a run that has begun before: if it
  // continues, its nodes' runs stay as the retry has left them; if it begins anew, the workflow run
  // that it had is replaced, and what waits of that one is cancelled. kAcceptedAgain: it runs
  // already.
  virtual Result<BeginReply> Begin(const ClaimRequest& request, const Fence& fence,
                                   WallTime now) = 0;

  // Begins a fire whose job fans out (fan_out.h). Decides by DecideClaim, for a request without an
  // executor and without a group. If accepted, the own run becomes RUNNING with run_flag::kParts
  // and takes its slot of the job, and its parts (`rendered`, otherwise PlacesOf) are written, due
  // now. Parts of an earlier begin are due again, with their next attempts; those places may add,
  // delete or bind some. Without places the own run ends. kAcceptedAgain: it runs already.
  // kConflict: that version does not fan out.
  virtual Result<PartsReply> BeginParts(const PartsRequest& request, const Fence& fence,
                                        WallTime now) = 0;

  // The oldest wake-ups of `segments`, by id; as ScanCompletions.
  virtual Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                                  size_t limit) = 0;
  // Workflow runs of `segments` that have not ended and whose number is greater than `after`, by
  // number. Takes no locks.
  virtual Result<std::vector<OpenWorkflowRun>> ScanOpen(const std::vector<SegmentId>& segments,
                                                        uint64_t after, size_t limit) = 0;

  // Takes a step of each of these runs, in one transaction: applies StepWorkflow and DecideRelease.
  // If the own run has ended in another way, by a cancel while it waited for its begin, its blocked
  // nodes are cancelled. Does nothing to a run that has ended, except for deleting the wake-ups.
  // Returns an effect for each request. Nothing is done to a run of which another one of `requests`
  // is a node, nor to those for which the transaction has no room; their effect says `again`.
  // No run may be there twice.
  virtual Result<std::vector<StepEffect>> Step(const std::vector<StepRequest>& requests,
                                               const Fence& fence, WallTime now) = 0;

  // kNotFound: the run is not of a workflow, or has never begun.
  virtual Result<WorkflowRunView> GetWorkflowRun(const RunKey& key) = 0;

  // Applies PlanSkip. kConflict: the node cannot be skipped, or the run has ended or is being
  // cancelled. kDenied: the node is an approval, and CheckMayDecide refuses.
  virtual Result<WorkflowRunView> SkipNode(const SkipNodeRequest& request,
                                           const WriteContext& context) = 0;

  // Ends an open approval by EndOfApproval, with the decider and the reason of `context`.
  // kConflict: it does not wait for a decision. kDenied: CheckMayDecide.
  virtual Result<WorkflowRunView> DecideNode(const DecideNodeRequest& request,
                                             const WriteContext& context) = 0;

  // Plans what RunStore::RetryRun with these choices would do, without doing it. Errors as there.
  virtual Result<RetryPlan> PreviewRetry(const RunKey& key, const WorkflowRetry& retry) = 0;
};

}  // namespace carillon
