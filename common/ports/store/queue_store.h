// The queues of runs that wait for a slot of their job (common/domain/queue/overlap.h) or of their
// concurrency group (common/domain/queue/group.h). A claim puts a run into one of the two queues
// (FiringStore::Claim); Admit and AdmitGroup take it out when there is room.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   As FiringStore.
// Always   A run is in a queue exactly while it is PENDING with `due` kQueued: every write that
//          gives it another state or due time also takes it out. Queues of jobs are ordered by
//          RunKey, those of groups by GroupPlace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/queue/overlap.h"
#include "common/domain/run/run_state.h"
#include "common/domain/run/skip.h"
#include "common/ports/fence.h"

namespace carillon {

struct QueuedJob {
  JobNo job_no;
  SegmentId segment;

  bool operator==(const QueuedJob&) const = default;
};

// A group that has free slots, now or within kGroupAhead, and the segments of the queued runs that
// may get them.
struct QueuedGroup {
  GroupNo group_no;
  std::vector<SegmentId> segments = {};

  bool operator==(const QueuedGroup&) const = default;
};

struct GroupScan {
  std::vector<QueuedGroup> groups = {};
  // When the next slot of a group that has a queue may be given again (`per` of the group), if it
  // is free by then. Reserved slots do not count, nor free ones that AdmitGroup might give now;
  // nullopt: there is no other one.
  std::optional<WallTime> next_cool = {};

  bool empty() const { return groups.empty(); }
  bool operator==(const GroupScan&) const = default;
};

// A slot of a group that its run seems not to use.
struct UnusedSlot {
  GroupNo group_no;
  uint32_t slot = 0;
  RunKey key;
  std::optional<SegmentId> segment = {};  // of the run; nullopt: there is no such run
};

// The result of one call of Admit or AdmitGroup, for the owner's memory and metrics.
struct AdmissionEffect {
  std::vector<RunRow> admitted = {};  // the rows as written: PENDING, due
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

// The place of one run in the queue of its job or of its group.
struct QueuePlace {
  int64_t position = 0;  // from 1
  int64_t length = 0;
  WallTime since;          // when it was queued
  std::string group = {};  // its name; empty: the run waits for a slot of its job
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

  // Groups with a number above `after` of which AdmitGroup might admit runs of `segments`, by
  // number. Takes no locks.
  virtual Result<GroupScan> ScanGroups(const std::vector<SegmentId>& segments, GroupNo after,
                                       size_t limit, WallTime now) = 0;

  // Locks the group against a change of its limit, and its first queued runs of the fenced
  // segments, applies DecideGroupAdmission, and writes. At most kBatchRowsMax queued runs are
  // looked at. A slot that is cool within kGroupAhead counts as free, unless a lowered limit has
  // slots above it in use; its run is due at DueInGroup. The fence has the segments of `group`.
  virtual Result<AdmissionEffect> AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                             WallTime now) = 0;

  // Slots of groups that nobody uses: of admitted runs of `segments` whose claim did not come
  // within kGroupGrantKept, and of runs of `segments`, or of runs that are gone, that a member of a
  // version without groups ended without freeing them. A call may look at a part of the slots, and
  // the next one at the next part. Takes no locks.
  virtual Result<std::vector<UnusedSlot>> ScanUnusedSlots(const std::vector<SegmentId>& segments,
                                                          WallTime now, size_t limit) = 0;

  // Frees those of the slots that are still unused and whose runs are in the fenced segments or
  // gone. An admitted run stays due without its slot. Returns the number of freed slots.
  virtual Result<size_t> ReclaimSlots(const std::vector<UnusedSlot>& slots, const Fence& fence,
                                      WallTime now) = 0;

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
