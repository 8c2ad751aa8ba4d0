// job_runs and run_attempts by day: partitions for the coming days, and retention.
//
// A partition is called pYYYYMMDD after its day (UTC); p_past holds everything before the oldest
// day (old backfills), p_future everything after the newest (nothing, as long as AddPartitions is
// called daily).
//
// Threads  Any member may call these at any time; one at a time does the work.
// Errors   kUnavailable: the tables are busy (a long read, say) or another member is at it: nothing
//          was lost; call again.
// Always   A day is dropped whole, and only when nothing in it is open; the check and the drop
//          exclude every writer. Nobody waits longer than a second for either.
#pragma once

#include "common/adapters/mysql/client/pool.h"
#include "common/base/time.h"
#include "common/ports/store/housekeeping.h"

namespace carillon::mysql {

inline constexpr int kDaysAhead = 3;
inline constexpr int kDaysAtOnceMax = 40;  // after a long standstill the rest is one partition
inline constexpr int64_t kDeletedRowsPerCall = 20'000;

inline constexpr int kRefusalsBeforeQueueing = 3;
inline constexpr Duration kQueueFirst = 10ms;
inline constexpr Duration kQueueLongest = 100ms;
// Time for which a call queues for a table that is in use, by the number of calls in a row before
// it that were refused one. Everybody else who wants the table waits behind a queue, so the first
// calls do without; a table that is in use at every moment is never locked without one.
Duration QueueFor(int refusals);

Status AddPartitions(Pool& pool, WallTime now, Duration queue = {});
// Drops the days that ended at or before `before`.
Status DropPartitions(Pool& pool, WallTime before, Duration queue = {});

struct OldRows {
  WallTime runs_before;
  WallTime request_keys_before;
  WallTime audit_before;
  WallTime sessions_before;
};
// Deletes what does not live in partitions, kDeletedRowsPerCall of each kind at most. kBehind: of
// some kind there were so many.
Result<Upkeep> DeleteOldRows(Pool& pool, const OldRows& old);

inline constexpr int64_t kJobsLookedAtPerCall = 10'000;
// Deletes the versions of jobs that were superseded before `before`, except the newest
// kJobVersionsKept of each: a walk over the jobs from number `from`, kJobsLookedAtPerCall a call.
// Returns where it goes on.
Result<int64_t> DeleteOldVersions(Pool& pool, int64_t from, WallTime before);

}  // namespace carillon::mysql
