// Executes background bulk actions, one action at a time.
//
// Place    One in each member, beside its API: an item is handled like a request.
// Threads  One loop calls Step and, after the last one, Leave; Nudge is safe from any thread.
// Time     Leases by cluster time in the store, by this member's steady clock here: it does not
//          begin an item when less than kLeaseSpare of its lease is left.
// Errors   Store away: waits, and goes on where it was; nothing becomes an error by that.
// Always   One item a Step, so a stop comes at an item's border. What is done is recorded after it
//          was done: after a crash in between the next member does it again, which runners make
//          harmless. Who has lost the lease records nothing.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/bulk_store.h"
#include "scheduler/auth/authenticator.h"

namespace carillon::scheduler {

// Whether somebody may have done it before, and died before that was recorded.
enum class EarlierAttempt { kNo, kPossibly };

struct ItemOutcome {
  enum class Verdict {
    kDone,
    kFailed,  // finally
    kAgain,   // a dependency is unavailable
  };
  Verdict verdict = Verdict::kDone;
  std::string run_id = {};
  std::string error_json = {};  // not of kDone
};

// Why an item has no result of its own: its action was stopped.
enum class Undone {
  kNotBegun,
  kUnknown,  // a member had begun it, and did not record how it ended
};

// Does one item. Blocks as a request does.
class BulkItemRunner {
 public:
  virtual ~BulkItemRunner() = default;
  virtual ItemOutcome Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                         EarlierAttempt tried) = 0;
  // What an item comes to without being begun; nullopt: it is to be done.
  virtual std::optional<ItemOutcome> Precheck(const BulkOrder& order, const Caller& caller,
                                              const BulkItem& item) = 0;
  // The error of an item that was left undone, as JSON.
  virtual std::string ErrorOf(const BulkOrder& order, Undone undone) = 0;
};

class BulkWorker final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 5s;  // for actions left by dead members
  static constexpr Duration kLease = 30s;
  static constexpr Duration kLeaseSpare = 15s;
  static constexpr Duration kRightsFor = kLease;  // before the caller's rights are read again
  static constexpr Duration kRecordEvery = 1s;
  static constexpr Duration kRest = 50ms;  // between pieces
  static constexpr Duration kRetry = 1s;
  static constexpr Duration kLongestRetry = 8s;
  static constexpr size_t kPiece = 50;   // items started at once
  static constexpr int64_t kTurn = 500;  // items, then it is another action's turn
  static constexpr int kTriesMax = 6;    // of an item while the store answers everything else

  struct Ports {
    const Clock& clock;
    BulkStore& store;
    std::function<Result<WallTime>()> cluster_now;
    std::function<bool()> store_trusted;
    // The caller with their current rights.
    std::function<Result<Resumed>(const Grant&)> resume;
    BulkItemRunner& runner;
    Metrics& metrics;
  };
  explicit BulkWorker(Ports ports) : ports_(std::move(ports)) {}

  SteadyTime Step(SteadyTime now) override;
  // A new action exists; wake the loop afterwards.
  void Nudge() { nudged_ = true; }
  // Records what was done, so that another member can continue at once.
  void Leave();

 private:
  struct Work {
    BulkAction action;
    BulkLease lease;
    SteadyTime held_until;
    SteadyTime resumed = {};  // `caller` was read then
    Caller caller = {};
    std::deque<BulkItem> piece = {};      // begun
    std::vector<BulkItem> finished = {};  // not recorded yet
    SteadyTime record_at = {};            // what is finished
    int64_t turn = 0;                     // items so far
    int tries = 0;                        // of the next item
  };

  // In this order: a lease until `cluster` + kLease is not over before `steady` + kLease. Read
  // again for each renewal, because an item may take longer than a lease.
  struct Moment {
    SteadyTime steady;
    WallTime cluster;
  };

  SteadyTime Take(SteadyTime now, WallTime cluster_now);
  SteadyTime NextPiece(SteadyTime now, WallTime cluster_now);
  SteadyTime DoNext(SteadyTime now, WallTime cluster_now);
  // False: it was not recorded; the work may be lost with its lease.
  bool Record();
  Result<Moment> ReadTime() const;
  bool LeaseIsShort(SteadyTime now) const { return now + kLeaseSpare > work_->held_until; }
  // True if the caller may continue; false: they may not, or that is unknown.
  bool Resume(WallTime cluster_now);
  // Gives those their result that need not be begun; false: that is not known of all.
  bool Precheck(const std::vector<BulkItem>& items);
  void Finish(const BulkItem& item, const ItemOutcome& outcome);
  void Drop(std::string_view why);
  SteadyTime WaitUntil(SteadyTime time) { return next_ = time; }
  // Of the store: drops the action if the lease is lost, else retries.
  void Failed(const Error& error);

  const Ports ports_;
  std::atomic<bool> nudged_ = false;
  std::optional<Work> work_;
  SteadyTime next_{};  // nothing is done before
};

}  // namespace carillon::scheduler
