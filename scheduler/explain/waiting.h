// Explains why a PENDING run has not been started, and for how long a HELD one waits. Pure; only
// ExplainWaiting reads the stores.
//
// Always   Applies the rules of routing to the executors' records, by their last heartbeats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/run/run.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/group_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/queue_store.h"
#include "common/ports/store/upstream_store.h"
#include "common/ports/store/workflow_store.h"
#include "scheduler/explain/live_executors.h"

namespace carillon::scheduler {

// The slots of a job.
struct SlotUse {
  int64_t taken = 0;
  int64_t max_running = 1;
};

struct WaitingEvidence {
  WallTime now;  // cluster time
  const RunRow& row;
  bool cluster_paused = false;
  // The definition that the run executes; nullopt: it cannot be decoded.
  std::optional<JobDefinition> definition = {};
  std::vector<ExecutorRecord> executors = {};
  std::optional<QueuePlace> place = {};  // nullopt: unknown, or it has just left the queue
  std::optional<SlotUse> slots = {};     // nullopt: unknown, or the job has no limit any more
  std::optional<Group> group = {};       // in whose queue the run is
  std::string upstream = {};             // what it waits for of other jobs, in sentences
  // Of an open node: since when, and when it ends by itself; zero = never (RunDetail::until).
  WallTime opened = WallTime{};
  WallTime until = WallTime{};
  std::optional<NodeOrigin> node = {};    // of a node's run
  WallTime deadline = kNever;             // of its workflow run; kNever: it does not end this node
  std::optional<Approval> approval = {};  // of its node; nullopt: it is none, or cannot be read
};

struct Waiting {
  // paused, not_due, cluster_paused, upstream_run, upstream, approval, time, slot, group,
  // unreadable, no_executor, pinned_unknown, no_match, no_feature, no_handler, away, no_room,
  // queued; of a HELD run host.
  std::string_view code;
  std::string detail;                    // a sentence; several of upstream_run
  std::optional<QueuePlace> place = {};  // only with codes slot and group
};

// True if the run is PENDING, has fired, and waits for runs of other jobs.
bool AwaitsOthers(const WaitingEvidence& evidence);
// True if the run is PENDING and due. The answer then depends on the run's definition and on the
// executors, so both are needed as evidence.
bool IsDue(const WaitingEvidence& evidence);
// nullopt: the run does not wait.
std::optional<Waiting> DecideWaiting(const WaitingEvidence& evidence);

struct WaitingStores {
  JobStore& jobs;
  ExecutorStore& executors;
  QueueStore& queues;
  GroupStore& groups;
  UpstreamStore& upstream;
  FiringStore& firing;
  WorkflowStore& workflows;
  const LiveExecutors& live;
};
// Like DecideWaiting, for a run of this job. Reads the missing evidence from the stores, and
// returns the errors of the stores.
Result<std::optional<Waiting>> ExplainWaiting(const WaitingStores& stores, WaitingEvidence evidence,
                                              const JobId& job_id);

}  // namespace carillon::scheduler
