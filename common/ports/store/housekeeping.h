// Upkeep of the store: adds partitions for the coming days, and deletes old data.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

enum class Upkeep { kDone, kBehind };
inline constexpr int64_t kJobVersionsKept = 100;  // newest ones of each job, however old

struct Retention {
  Duration runs = {};  // of finished runs
  // The newest finished runs of each job that stay when their day is dropped, however old: with
  // their result, without attempts and logs (RunDetail::kept). A skipped run is not finished. Not
  // of deleted jobs, and not of jobs whose own retention is shorter.
  int keep_last = 0;
};

class Housekeeping {
 public:
  virtual ~Housekeeping() = default;

  // Adds the partitions for the coming days, and drops whole days older than `retention.runs` in
  // which nothing is open. Deletes old rows of other tables:
  // - request keys, expired sessions, gaps, dead letters, and executors that are gone;
  // - audit records older than a year;
  // - bulk actions that ended kBulkKept ago;
  // - versions of jobs, except the newest kJobVersionsKept;
  // - versions of calendars older than `retention.runs` that nothing needs (UnusedVersions);
  // - kept runs of which their job has keep_last newer ones;
  // - ended runs that are older than the `retention_days` of their job, if that is shorter, with
  //   their attempts, logs and dead letters.
  // A call deletes a bounded number of rows. kBehind: more rows are to be deleted, so call again
  // soon. Several members may call it at the same time.
  virtual Result<Upkeep> Maintain(WallTime now, const Retention& retention) = 0;
};

}  // namespace carillon
