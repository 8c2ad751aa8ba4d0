// Port of runs that wait for runs of other jobs (common/domain/upstream). The owner of a run's
// segment judges and ends its wait; any member may release it for a person.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   As FiringStore for calls with a fence, as RunStore for the others.
// Always   Each call is one transaction. A question must be asked in the order ReadSources,
//          ReadUpstreamRuns: a plan writes runs and the next fire of their schedule at once, so in
//          the other order the newest fire can be missed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/upstream/upstream_wait.h"
#include "common/domain/upstream/wait_end.h"
#include "common/ports/fence.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/run_store.h"

namespace carillon {

struct AwaitingRun {
  RunRow row;
  WallTime planned = WallTime{};
  // The zone that the run keeps for its local date (fire_zone.h), or that of the workflow of which
  // it is a node; empty = that of its schedule or job.
  std::string kept_zone = {};

  bool operator==(const AwaitingRun&) const = default;
};

struct AwaitingPage {
  std::vector<AwaitingRun> runs;  // by key
  std::optional<RunKey> next;     // start of the next page; nullopt = this was the last one

  bool empty() const { return runs.empty(); }
};

// The fires of [from, to] of a target's jobs, and those that belong to them (kSameFireMax).
struct UpstreamSpan {
  UpstreamSources sources;
  WallTime from, to;
};

// The effect of the end of a wait; none of these: the run had changed.
struct WaitEffect {
  RunKey key;
  std::optional<RunRow> due = {};  // the row as written, if it is due at a time
  bool blocked = false;            // a node: a wake-up of its workflow was written
  bool failed = false;             // of an expired one
  bool completed = false;          // a completion was written (completion_store.h)
};

class UpstreamStore {
 public:
  virtual ~UpstreamStore() = default;

  // Runs of `segments` that wait for runs of other jobs, with fires up to `until`, that come after
  // `after`. Takes no locks.
  virtual Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>& segments, WallTime until,
                                            std::optional<RunKey> after, size_t limit) = 0;

  // One answer per target, in order. Takes no locks.
  virtual Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) = 0;
  // The dated runs (UpstreamRun) of the sources' jobs, and those of the target itself, with `in`
  // only those in that workflow; of each job the newest kUpstreamRunsMax. Those of a span are of
  // one moment, the target's perhaps of a later one. One answer per span, in order. No locks.
  virtual Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& spans) = 0;

  // Ends the waits that StillWaits: by DueAfterWait, or by UnmetChange for an expired one. A node
  // that is blocked then wakes its workflow up. All or nothing. One effect per item, in order.
  virtual Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>& items,
                                                   const Fence& fence, WallTime now) = 0;

  // Ends the wait of one run for a person, as if all had come. kConflict: it does not wait for runs
  // of other jobs.
  virtual Result<RunDetail> ReleaseRun(const RunKey& key, const WriteContext& context) = 0;
};

}  // namespace carillon
