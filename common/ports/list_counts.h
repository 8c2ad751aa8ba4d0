// Port that counts the entries of a list for its first page, up to a limit.
//
// Threads  Thread-safe; blocking, for kCountTimeMax at most.
// Errors   As job_store.h; kExhausted: it took too long. For an unknown job or bulk action the
//          count is 0, or kNotFound.
// Always   Cursor, limit and order of a filter are ignored. Unreadable entries count, although
//          lists leave them out.
#pragma once

#include "common/base/result.h"
#include "common/ports/admin_store.h"
#include "common/ports/auth_store.h"
#include "common/ports/bulk_store.h"
#include "common/ports/job_store.h"
#include "common/ports/notice_store.h"
#include "common/ports/run_store.h"

namespace carillon {

inline constexpr size_t kListedCountMax = 1'000;
// Without an index for a filter, at most the first so many entries of the list are examined.
inline constexpr size_t kCountLookedAtMax = 20'000;
// The same for runs, of which a page examines kRunSearchMax.
inline constexpr size_t kRunCountLookedAtMax = 10'000;
inline constexpr Duration kCountTimeMax = 1s;

struct BoundedCount {
  size_t seen = 0;   // at most kListedCountMax
  bool all = false;  // the count is complete
};

class ListCounts {
 public:
  virtual ~ListCounts() = default;

  virtual Result<BoundedCount> CountJobs(const JobFilter& filter) = 0;
  virtual Result<BoundedCount> CountVersions(const JobId& id) = 0;
  virtual Result<BoundedCount> CountNamespaces() = 0;
  // Also limited by filter.search_max.
  virtual Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) = 0;
  virtual Result<BoundedCount> CountGaps(const GapFilter& filter) = 0;
  virtual Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) = 0;
  virtual Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) = 0;
  virtual Result<BoundedCount> CountAudit(const AuditFilter& filter) = 0;
  virtual Result<BoundedCount> CountUsers() = 0;
  virtual Result<BoundedCount> CountTokens(const TokenFilter& filter) = 0;
  virtual Result<BoundedCount> CountSecrets() = 0;
  virtual Result<BoundedCount> CountBulk(const BulkFilter& filter) = 0;
  virtual Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) = 0;
};

}  // namespace carillon
