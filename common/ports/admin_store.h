// Port of a member's administrative data: idempotency keys, settings, the audit, partitions.
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

// The response to a request with an Idempotency-Key, as replayed to repetitions.
struct StoredAnswer {
  int status = 200;
  std::string body;
  std::string location;  // headers that a replay repeats
  std::string etag;
};

enum class RequestState {
  kNew,     // continue, then call FinishRequest or AbandonRequest
  kReplay,  // `answer` is the first response
  // The first request has not finished, or its member died within the last minute.
  kInFlight,
  kMismatch,  // the same key with a different body
};
// The state of an idempotency key.
struct RequestLookup {
  RequestState state = RequestState::kNew;
  StoredAnswer answer = {};
};

// An Idempotency-Key (BeginRequest) whose response is stored in the transaction of the write
// itself. Neither exists without the other, so a repetition never executes twice.
template <typename Written>
struct KeyedAnswer {
  std::string scope;
  std::string key;
  std::function<StoredAnswer(const Written&)> answer;  // pure
};

// One action of a user.
struct AuditRecord {
  uint64_t id = 0;  // assigned by the store
  WallTime at;
  std::string actor;
  std::string action;       // "job.pause"
  std::string object_id;    // job, run or executor; at most 63 characters
  std::string reason = {};  // given by the user; empty = none
  std::string trace_id = {};
  std::string changes_json = {};  // changed job fields, a JSON list; empty = none recorded
};
inline constexpr size_t kAuditChangesBytesMax = 32 * 1024;

struct AuditFilter {
  std::string object_id = {};             // empty = all
  std::string actor = {};                 // "anna" includes her tokens, "anna/…"; empty = all
  std::vector<std::string> actions = {};  // one of these; empty = all
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};  // exclusive
  uint64_t after_id = 0;               // only records with a greater id
  uint64_t before_id = UINT64_MAX;     // only records with a smaller id
  bool oldest_first = false;           // the cursor is then after_id, otherwise before_id
  size_t limit = 50;
};

enum class Upkeep { kDone, kBehind };
inline constexpr int64_t kJobVersionsKept = 100;  // per job, regardless of age

class AdminStore {
 public:
  virtual ~AdminStore() = default;

  // An Idempotency-Key is kept for 24 h. `scope` = caller and route; `fingerprint` = hash of
  // the body.
  virtual Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                             const std::string& fingerprint, WallTime now) = 0;
  virtual Status FinishRequest(const std::string& scope, const std::string& key,
                               const StoredAnswer& answer) = 0;
  // The request had no effect, so its key is freed. A finished request is not affected.
  virtual Status AbandonRequest(const std::string& scope, const std::string& key) = 0;

  virtual Result<ClusterSettings> ReadSettings() = 0;
  // Replaces all stored settings by `next`, whose version is above `expected`, and returns them.
  // kConflict: the stored version is not `expected`.
  virtual Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next) = 0;

  // The audit is append-only.
  virtual Status RecordAudit(const AuditRecord& record) = 0;
  // All or none, in order.
  virtual Status RecordAudits(const std::vector<AuditRecord>& records) = 0;
  virtual Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) = 0;

  // Creates the partitions for the coming days, drops whole days older than `retention` in which
  // nothing is open, and deletes old rows of other tables: request keys, audit records older than a
  // year, expired sessions, bulk actions that ended kBulkKept ago, gaps, dead letters, versions of
  // jobs (the newest kJobVersionsKept are kept), executors that are gone. A bounded number of rows
  // per call. kBehind: more remains; call again soon. Several members may call it at once.
  virtual Result<Upkeep> Maintain(WallTime now, Duration retention) = 0;
};

}  // namespace carillon
