// The rest of what a member keeps in the store: idempotency keys, settings, the audit, partitions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

struct StoredAnswer {
  int status = 200;
  std::string body;
  std::string location;  // headers that a replay repeats
  std::string etag;
};

enum class RequestState {
  kNew,       // the caller goes on and calls FinishRequest or AbandonRequest
  kReplay,    // answer holds the first one
  kInFlight,  // the first request has not finished (or its member died within the last minute)
  kMismatch,  // the same key with another body
};
struct RequestLookup {
  RequestState state = RequestState::kNew;
  StoredAnswer answer = {};
};

// An Idempotency-Key (BeginRequest) whose answer is kept in the transaction of the write itself:
// there is nothing written without it, so a repetition never does it twice.
template <typename Written>
struct KeyedAnswer {
  std::string scope;
  std::string key;
  std::function<StoredAnswer(const Written&)> answer;  // pure
};

// One thing a person did.
struct AuditRecord {
  uint64_t id = 0;  // given by the store
  WallTime at;
  std::string actor;
  std::string action;       // "job.pause"
  std::string object_id;    // of the job, run or executor; at most 63 characters
  std::string reason = {};  // in the person's words; empty = not said
  std::string trace_id = {};
  std::string changes_json = {};  // of a job's fields, a JSON list; empty = not told
};
inline constexpr size_t kAuditChangesBytesMax = 32 * 1024;

struct AuditFilter {
  std::string object_id = {};             // empty = all
  std::string actor = {};                 // "anna": also by her tokens, "anna/…"; empty = all
  std::vector<std::string> actions = {};  // one of these; empty = all
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};  // earlier than this
  uint64_t after_id = 0;               // only later ones
  uint64_t before_id = UINT64_MAX;     // only earlier ones
  bool oldest_first = false;           // the cursor is after_id then, otherwise before_id
  size_t limit = 50;
};

enum class Upkeep { kDone, kBehind };
inline constexpr int64_t kJobVersionsKept = 100;  // of each job, however old

class AdminStore {
 public:
  virtual ~AdminStore() = default;

  // Idempotency-Key, kept 24 h. `scope` = caller and route; `fingerprint` = hash of the body.
  virtual Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                             const std::string& fingerprint, WallTime now) = 0;
  virtual Status FinishRequest(const std::string& scope, const std::string& key,
                               const StoredAnswer& answer) = 0;
  // Nothing was done. A request that was finished meanwhile stays.
  virtual Status AbandonRequest(const std::string& scope, const std::string& key) = 0;

  virtual Result<ClusterSettings> ReadSettings() = 0;
  // `next`, whose version is above `expected`, takes the place of all that is stored and is
  // returned. kConflict: another version than `expected` is.
  virtual Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next) = 0;

  // Append-only.
  virtual Status RecordAudit(const AuditRecord& record) = 0;
  // All of them or none, in their order.
  virtual Status RecordAudits(const std::vector<AuditRecord>& records) = 0;
  virtual Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) = 0;

  // Adds the partitions for the coming days, drops whole days older than `retention` in which
  // nothing is open, and deletes what is older and lives elsewhere: request keys, what the audit
  // has kept for a year, sessions that have expired, bulk actions that ended kBulkKept ago, gaps,
  // dead letters, versions of jobs (the newest kJobVersionsKept stay), executors that are gone. A
  // bounded number of rows a call. kBehind: there is more; call again soon. Safe to call from
  // several members.
  virtual Result<Upkeep> Maintain(WallTime now, Duration retention) = 0;
};

}  // namespace carillon
