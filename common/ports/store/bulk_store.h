// Port of bulk actions, which outlive their request: the order, its items, and their results.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h. Calls with a lease also return kFenced: another member has taken the
//          lease, or the action is gone.
// Always   An action is stored with all its items or not at all. An item gets a result once, and
//          done + failed + skipped = total from the moment the action has ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/bulk.h"
#include "common/domain/run/run.h"
#include "common/ports/store/bounded_count.h"
#include "common/ports/store/idempotency_store.h"

namespace carillon {

inline constexpr size_t kBulkStoredItemsMax = 20'000;
inline constexpr int64_t kBulkOpenMax = 20;  // unfinished actions per user
inline constexpr Duration kBulkKept = 24h * 7;

// The action as requested, and the user who requested it.
struct BulkOrder {
  std::string bulk_id;  // at most 63 ASCII characters
  std::string action;   // "run"
  std::string kind;     // "job" or "run"
  std::string reason = {};
  bool confirm_overlap = false;
  CancelMode cancel_mode = CancelMode::kGraceful;  // only for cancel
  std::string actor = {};                          // as in the audit log
  std::string user_id = {};                        // owner of the action
  std::string token_id = {};                       // empty: signed in with a password
  std::string role = {};  // at the time of the request; the action never has more permissions
  std::string trace_id = {};
  WallTime created = WallTime{};

  bool operator==(const BulkOrder&) const = default;
};

// A bulk action and its progress; the four counts are of items.
struct BulkAction {
  uint64_t number = 0;  // assigned by the store, ascending
  BulkOrder order;
  BulkState state = BulkState::kRunning;
  int64_t total = 0;
  int64_t done = 0;
  int64_t failed = 0;
  int64_t skipped = 0;
  std::string error = {};  // the reason if stopped
  WallTime updated = WallTime{};
  WallTime ended = WallTime{};  // zero while items are pending, even after a cancel
};
inline bool HasEnded(const BulkAction& action) { return action.ended != WallTime{}; }

// One job or run that the action applies to.
struct BulkItem {
  int64_t position = 0;
  std::string id;
  BulkResult result = BulkResult::kPending;
  bool begun = false;           // may have been executed already
  std::string run_id = {};      // the run that the item created
  std::string error_json = {};  // kError: problem details
};

struct BulkFilter {
  std::optional<BulkState> state = {};
  std::optional<std::string> user_id = {};
  bool open = false;                    // only unfinished actions
  uint64_t before_number = UINT64_MAX;  // cursor, newest first
  size_t limit = 50;
};

struct BulkItemFilter {
  std::optional<BulkResult> result = {};
  int64_t after_position = -1;  // cursor, ascending
  size_t limit = 50;
};

// The right of a member to work on an action until a time, unless renewed. An expired lease remains
// usable until TakeBulk gives the action to another member; after that, calls with it are kFenced.
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

  // kExists: the id is taken. kExhausted: the user has kBulkOpenMax unfinished actions. kConflict:
  // another request has finished the key of `keyed` meanwhile.
  virtual Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                        const std::optional<KeyedAnswer<BulkAction>>& keyed) = 0;
  virtual Result<BulkAction> GetBulk(const std::string& bulk_id) = 0;
  virtual Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) = 0;
  virtual Result<BoundedCount> CountBulk(const BulkFilter& filter) = 0;
  virtual Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                                      const BulkItemFilter& filter) = 0;
  virtual Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) = 0;
  // Skips all items that were not begun. Does nothing unless the action is RUNNING. kNotFound.
  virtual Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) = 0;

  // Among the actions with pending items and an expired lease, leases the least recently updated
  // one until `until`. nullopt: there is none.
  virtual Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) = 0;
  // Marks the pending items up to a position as begun and returns them; the caller must execute
  // them. In the returned items `begun` has the value before the call. Renews the lease.
  virtual Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease,
                                                       int64_t last_position, WallTime now,
                                                       WallTime until) = 0;
  // Records results of items; an existing result is kept, so the call may be repeated. When the
  // last item has a result, the action ends. Renews the lease, even without items.
  virtual Result<BulkAction> RecordBulkItems(const BulkLease& lease,
                                             const std::vector<BulkItem>& items, WallTime now,
                                             WallTime until) = 0;
  // Sets STOPPED unless the action was cancelled. Pending items are skipped; begun
  // items get `begun_error_json`.
  virtual Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                                      const std::string& begun_error_json, WallTime now) = 0;
  // Lets another member take the action at once. No error if the lease is already lost.
  virtual Status ReleaseBulk(const BulkLease& lease) = 0;
};

}  // namespace carillon
