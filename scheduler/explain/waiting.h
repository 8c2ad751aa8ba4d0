// Why a run that is PENDING has not been started: the decision, from what is on record. Pure,
// but for ExplainWaiting.
//
// Always   Agrees with routing, based on the executors as stored: their free slots and health are
//          those of the last heartbeats that were written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job.h"
#include "common/domain/run.h"
#include "common/ports/executor_store.h"
#include "common/ports/job_store.h"

namespace carillon::scheduler {

struct WaitingEvidence {
  WallTime now;  // cluster time
  const RunRow& row;
  bool cluster_paused = false;
  // The definition that the run executes; nullopt: it cannot be read.
  std::optional<JobDefinition> definition = {};
  std::vector<ExecutorRecord> executors = {};
};

struct Waiting {
  // paused, not_due, cluster_paused, unreadable, no_executor, pinned_unknown, no_match, away,
  // no_room, queued.
  std::string_view code;
  std::string detail;  // a sentence
};

// The run is due, so only its definition and the executors can say more.
bool IsDue(const WaitingEvidence& evidence);
// nullopt: it does not wait.
std::optional<Waiting> DecideWaiting(const WaitingEvidence& evidence);

struct WaitingStores {
  JobStore& jobs;
  ExecutorStore& executors;
};
// The same, with what more is needed read from the store; of a run of this job. Errors: the store's.
Result<std::optional<Waiting>> ExplainWaiting(const WaitingStores& stores, WaitingEvidence evidence,
                                              const JobId& job_id);

}  // namespace carillon::scheduler
