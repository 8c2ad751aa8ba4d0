// Bulk actions that outlive their request: who asked for what, item by item, and what became of it.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h. With a lease also kFenced: somebody else has it by now, or the action is
//          gone.
// Always   An action is there with all its items or not at all. An item gets its result once, and
//          done + failed + skipped = total from the moment the action has ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/bulk.h"
#include "common/domain/run.h"
#include "common/ports/admin_store.h"

namespace carillon {

inline constexpr size_t kBulkStoredItemsMax = 20'000;
inline constexpr int64_t kBulkOpenMax = 20;  // actions of one user that have not ended
inline constexpr Duration kBulkKept = 24h * 7;

// What was asked for, and by whom.
struct BulkOrder {
  std::string bulk_id;  // at most 63 ASCII characters
  std::string action;   // "run"
  std::string kind;     // "job" or "run"
  std::string reason = {};
  bool confirm_overlap = false;
  CancelMode cancel_mode = CancelMode::kGraceful;  // of a cancel
  std::string actor = {};                          // as the audit names him
  std::string user_id = {};                        // whose it is
  std::string token_id = {};                       // empty: he had signed in
  std::string role = {};                           // that he had then: he never has more
  std::string trace_id = {};
  WallTime created = WallTime{};

  bool operator==(const BulkOrder&) const = default;
};

struct BulkAction {
  uint64_t number = 0;  // given by the store, ascending
  BulkOrder order;
  BulkState state = BulkState::kRunning;
  int64_t total = 0;
  int64_t done = 0;
  int64_t failed = 0;
  int64_t skipped = 0;
  std::string error = {};  // why it was stopped
  WallTime updated = WallTime{};
  WallTime ended = WallTime{};  // zero: items are pending, also of a cancelled one
};
inline bool HasEnded(const BulkAction& action) { return action.ended != WallTime{}; }

struct BulkItem {
  int64_t position = 0;
  std::string id;
  BulkResult result = BulkResult::kPending;
  bool begun = false;           // somebody may have done it already
  std::string run_id = {};      // that it made
  std::string error_json = {};  // kError: the problem
};

struct BulkFilter {
  std::optional<BulkState> state = {};
  std::optional<std::string> user_id = {};
  bool open = false;                    // only those that have not ended
  uint64_t before_number = UINT64_MAX;  // cursor, newest first
  size_t limit = 50;
};

struct BulkItemFilter {
  std::optional<BulkResult> result = {};
  int64_t after_position = -1;  // cursor, ascending
  size_t limit = 50;
};

// The right to work on an action, until `until` unless it is renewed. Taking it is what fences the
// holder of before, not the time.
struct BulkLease {
  std::string bulk_id;
  int64_t number = 0;
};
struct LeasedBulk {
  BulkAction action;
  BulkLease lease;
};

class BulkStore {
 public:
  virtual ~BulkStore() = default;

  // kExists: there is one of this id. kExhausted: kBulkOpenMax of this user have not ended.
  // kConflict: the request of `keyed` was finished by somebody else meanwhile.
  virtual Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                        const std::optional<KeyedAnswer<BulkAction>>& keyed) = 0;
  virtual Result<BulkAction> GetBulk(const std::string& bulk_id) = 0;
  virtual Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) = 0;
  virtual Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                                      const BulkItemFilter& filter) = 0;
  // What nobody has begun is skipped. One that is not RUNNING stays as it is. kNotFound.
  virtual Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) = 0;

  // Takes the one that was touched least recently of those that have pending items and whose lease
  // is over, until `until`. nullopt: there is none.
  virtual Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) = 0;
  // Marks the pending items up to a position as begun; those it returns are to be done. Their
  // `begun` is what it was before. Renews the lease.
  virtual Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease,
                                                       int64_t last_position, WallTime now,
                                                       WallTime until) = 0;
  // Results of items; those that have one stay as they are, so it may be repeated. Ends the action
  // with its last item. Renews the lease, also with nothing to record.
  virtual Result<BulkAction> RecordBulkItems(const BulkLease& lease,
                                             const std::vector<BulkItem>& items, WallTime now,
                                             WallTime until) = 0;
  // STOPPED unless it was cancelled: pending items are
  // skipped; those that were begun get `begun_error_json`.
  virtual Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                                      const std::string& begun_error_json, WallTime now) = 0;
  // Somebody else may take it at once. Not being the holder any more is fine.
  virtual Status ReleaseBulk(const BulkLease& lease) = 0;
};

}  // namespace carillon
