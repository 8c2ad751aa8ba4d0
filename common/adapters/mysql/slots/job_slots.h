// The slots and the queue of a job (common/domain/queue/overlap.h), as a batch reads and
// changes them.
//
// Always   Two transactions that take the same slot collide in the primary key of run_slots; the
//          later one runs again (TransactionOptions::retry_duplicates). For that, each must take
//          the lowest unused number.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/queue/overlap.h"
#include "common/domain/run/run_state.h"

namespace carillon::mysql {

// The taken slots of a job: the runs that hold them, by number.
struct JobSlots {
  std::map<int64_t, RunKey> taken = {};
  std::set<RunKey> started = {};  // of those; known only if there are more than may be active

  bool Holds(const RunKey& key) const;
  void Release(const RunKey& key);
  // The lowest unused number below `max_running`, or nullopt. Holders with numbers above (after an
  // edit) count as well.
  std::optional<int64_t> Lowest(int64_t max_running) const;
};
using SlotsOfJobs = std::map<JobNo, JobSlots>;

// Locks the taken slots of the jobs for update, and adds them to `slots`. Jobs are the keys of it.
Status LockSlots(Session& session, SlotsOfJobs* slots);

// Sets `started` of the jobs, whose slots are locked: no claim can start one of their runs
// meanwhile.
Status ReadStarted(Session& session, const std::vector<JobNo>& jobs, SlotsOfJobs* slots);

// The part of a job's queue that claims depend on.
struct JobQueueFacts {
  SegmentId segment;
  int64_t length = 0;
  std::optional<RunKey> first = {};

  void Add(const RunKey& key);
};
using QueuesOfJobs = std::map<JobNo, JobQueueFacts>;

// Reads the queues of the jobs without locks. Jobs are the keys of `queues`, with their segments.
// A transaction that queues a run has locked the job's slots before, if there are any, so a caller
// that holds these locks sees the runs that earlier claims queued because of them.
// `counted`: the jobs whose `length` has to be exact. For others it is 1 if there is a queued run.
Status ReadQueues(Session& session, const std::vector<JobNo>& counted, QueuesOfJobs* queues);

// The facts that DecideClaim needs about one run.
SlotFacts SlotFactsOf(const JobSlots& slots, const JobQueueFacts& queue, const RunKey& key);

}  // namespace carillon::mysql
