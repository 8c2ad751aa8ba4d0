// Upkeep of the store: room for the coming days, and the end of what is too old.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

enum class Upkeep { kDone, kBehind };
inline constexpr int64_t kJobVersionsKept = 100;  // of each job, however old

class Housekeeping {
 public:
  virtual ~Housekeeping() = default;

  // Adds the partitions for the coming days, drops whole days older than `retention` in which
  // nothing is open, and deletes what is older and lives elsewhere: request keys, what the audit
  // has kept for a year, sessions that have expired, bulk actions that ended kBulkKept ago, gaps,
  // dead letters, versions of jobs (the newest kJobVersionsKept stay), executors that are gone. A
  // bounded number of rows a call. kBehind: there is more; call again soon. Safe to call from
  // several members.
  virtual Result<Upkeep> Maintain(WallTime now, Duration retention) = 0;
};

}  // namespace carillon
