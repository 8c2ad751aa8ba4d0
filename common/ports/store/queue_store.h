// The queues of runs that wait for a slot of their job (common/domain/run/overlap.h). A claim puts
// a run into its job's queue (FiringStore::Claim); Admit takes it out when there is room.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   As FiringStore.
// Always   A run is in a queue exactly while it is PENDING with `due` kQueued: every write that
//          gives it another state or due time also takes it out. Queues are ordered by RunKey.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/run/overlap.h"
#include "common/domain/run/run_state.h"
#include "common/domain/run/skip.h"
#include "common/ports/fence.h"

namespace carillon {

struct QueuedJob {
  JobNo job_no;
  SegmentId segment;

  bool operator==(const QueuedJob&) const = default;
};

// The result of one call of Admit, for the owner's memory and metrics.
struct AdmissionEffect {
  std::vector<RunRow> admitted = {};  // the rows as written: PENDING, due now
  std::vector<Duration> waited = {};  // by admitted run: time in the queue
  size_t replaced = 0;                // queued or admitted runs that became SKIPPED
  size_t cancelled = 0;               // holders that became CANCELLED
  size_t cancels_requested = 0;       // holders that are asked to stop
};

// A user's view of one job's queue.
struct JobQueue {
  std::vector<RunRow> holders = {};  // runs with a slot, by key
  std::vector<RunRow> queued = {};   // the first `limit` of the queue
  int64_t length = 0;                // of the whole queue
};

// The place of one run in the queue of its job.
struct QueuePlace {
  int64_t position = 0;  // from 1
  int64_t length = 0;
  WallTime since;  // when it was queued
};

class QueueStore {
 public:
  virtual ~QueueStore() = default;

  // Jobs of `segments` with a number above `after` whose queues Admit might change, by number: they
  // have a free slot, or a policy that does not wait for one. Takes no locks.
  virtual Result<std::vector<QueuedJob>> ScanQueues(const std::vector<SegmentId>& segments,
                                                    JobNo after, size_t limit) = 0;

  // Locks the job, its queued runs and the runs that hold its slots, applies DecideAdmission by the
  // job's present rules, and writes. At most kBatchRowsMax queued runs are looked at. Nothing
  // happens if the job has no queue any more.
  virtual Result<AdmissionEffect> Admit(const QueuedJob& job, const Fence& fence, WallTime now) = 0;

  // Queued runs of `segments` whose queue_timeout has passed, as items for FiringStore::Skip. Takes
  // no locks.
  virtual Result<std::vector<SkipItem>> ScanExpired(const std::vector<SegmentId>& segments,
                                                    WallTime now, size_t limit) = 0;

  // Number of queued runs of all jobs, for metrics; counted up to 100,000.
  virtual Result<int64_t> CountQueued() = 0;

  // kNotFound: no such job.
  virtual Result<JobQueue> ReadQueue(const JobId& id, size_t limit) = 0;

  // nullopt: the run is not queued.
  virtual Result<std::optional<QueuePlace>> PlaceOf(const RunKey& key) = 0;
};

}  // namespace carillon
