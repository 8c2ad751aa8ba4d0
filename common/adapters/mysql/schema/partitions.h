// Maintains the daily partitions of job_runs and of the tables of their attempts, logs and
// checkpoints: adds partitions for the coming days and drops old ones (retention).
//
// Names of the partitions:
// - pYYYYMMDD has the rows of this day (UTC).
// - p_past has all rows before the oldest day, from old backfills.
// - p_future has all rows after the newest day. It stays empty if AddPartitions is called daily.
//
// Threads  Any member may call these functions at any time. One member at a time changes
//          partitions: while another member or a backup holds the maintenance lock, AddPartitions
//          and DropPartitions do nothing and succeed.
// Errors   kUnavailable: the tables are in use, for example by a long read. Nothing was lost;
//          call again.
// Always   A day is dropped as a whole, and only when no run in it is open; the check and the drop
//          exclude every writer. No other connection waits for them longer than a second.
#pragma once

#include "common/adapters/mysql/client/pool.h"
#include "common/base/time.h"
#include "common/ports/store/housekeeping.h"

namespace carillon::mysql {

inline constexpr int kDaysAhead = 3;
inline constexpr int kDaysAtOnceMax = 40;  // after a long downtime, older days share one partition
inline constexpr int64_t kDeletedRowsPerCall = 20'000;

inline constexpr int kRefusalsBeforeQueueing = 3;
inline constexpr Duration kQueueFirst = 10ms;
inline constexpr Duration kQueueLongest = 100ms;
// Returns how long a call queues for a table that is in use. `refusals` is the number of calls
// immediately before it that found a table in use. While a call queues, all later users of the
// table wait behind it, so the first calls do not queue. But a table that is always in use cannot
// be locked without queueing.
Duration QueueFor(int refusals);

Status AddPartitions(Pool& pool, WallTime now, Duration queue = {});

// The runs of a partition with fires in [from_us, below_us), which are about to be deleted.
struct OldDay {
  std::string partition;
  int64_t from_us = 0;
  int64_t below_us = 0;
};

// Saves some runs of a day before it is dropped.
class DayKeeper {
 public:
  virtual ~DayKeeper() = default;
  // Runs in autocommit mode. False: it is not done yet, so the day must stay.
  virtual Result<bool> Keep(Session& session, const OldDay& day) = 0;
  // Called while job_runs is locked. False: a run has changed since Keep, so the day must stay.
  virtual Result<bool> IsCurrent(Session& session, const OldDay& day) = 0;
};

struct DroppedDays {
  bool behind = false;     // a day stays because its keeper is not done
  bool past_kept = false;  // the keeper is done with the old runs of p_past
};
// Drops the days that ended at or before `before`. `keeper` may be null.
Result<DroppedDays> DropPartitions(Pool& pool, WallTime before, DayKeeper* keeper,
                                   Duration queue = {});

struct OldRows {
  WallTime runs_before;
  bool past_too = true;  // whether rows of p_past may be deleted
  WallTime request_keys_before;
  WallTime audit_before;
  WallTime sessions_before;
  WallTime events_before;
};
// Deletes old rows of tables that are not partitioned, kDeletedRowsPerCall of each kind at most.
// kBehind: some kind reached that limit.
Result<Upkeep> DeleteOldRows(Pool& pool, const OldRows& old);

inline constexpr int64_t kJobsLookedAtPerCall = 10'000;
// Deletes the versions of jobs that were superseded before `before`, except the newest
// kJobVersionsKept of each job. Each call goes through kJobsLookedAtPerCall jobs after number
// `from`. Returns the number to continue from; 0 after the last job.
Result<int64_t> DeleteOldVersions(Pool& pool, int64_t from, WallTime before);

}  // namespace carillon::mysql
