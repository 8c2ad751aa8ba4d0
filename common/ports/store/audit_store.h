// The audit log: records of the actions of users. Append-only.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/ports/store/bounded_count.h"

namespace carillon {

// One action of a user.
struct AuditRecord {
  uint64_t id = 0;  // assigned by the store
  WallTime at;
  std::string actor;
  std::string action;       // "job.pause"
  std::string object_id;    // id of the job, run or executor; at most 63 characters
  std::string reason = {};  // as the user wrote it; empty = none given
  std::string trace_id = {};
  std::string changes_json = {};  // changes of a job's fields, a JSON list; empty = not recorded
};
inline constexpr size_t kAuditChangesBytesMax = size_t{32} * 1024;

struct AuditFilter {
  std::string object_id = {};             // empty = all
  std::string actor = {};                 // "anna": also by anna's tokens, "anna/…"; empty = all
  std::vector<std::string> actions = {};  // one of these; empty = all
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};  // earlier than this
  uint64_t after_id = 0;               // only records with a higher id
  uint64_t before_id = UINT64_MAX;     // only records with a lower id
  bool oldest_first = false;           // true: the cursor is after_id; false: before_id
  size_t limit = 50;
};

class AuditStore {
 public:
  virtual ~AuditStore() = default;

  virtual Status RecordAudit(const AuditRecord& record) = 0;
  // Stores all records, in this order, or none.
  virtual Status RecordAudits(const std::vector<AuditRecord>& records) = 0;
  virtual Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) = 0;
  virtual Result<BoundedCount> CountAudit(const AuditFilter& filter) = 0;
};

}  // namespace carillon
