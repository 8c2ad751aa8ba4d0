// Runs the items of background bulk actions, one action at a time.
//
// Place    One in each member, beside its API, because an item is executed like a request.
// Threads  One loop calls Step and, after the last Step, Leave; Nudge is thread-safe.
// Time     The store measures a lease in cluster time. This member measures it with its steady
//          clock, and begins no item when less than kLeaseSpare of the lease is left.
// Errors   Store unavailable: waits, then continues at the same item. No item fails
//          because of that.
// Always   Each Step executes at most one item, so that a stop never interrupts an item. An item
//          is recorded after its execution. After a crash in between, another member executes the
//          item again; the BulkItemRunner makes the repetition harmless. A worker that lost its
//          lease records nothing.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/bulk_store.h"
#include "scheduler/auth/authenticator.h"

namespace carillon::scheduler {

// Says whether an item may already have been executed without a record of it.
enum class EarlierAttempt { kNo, kPossibly };

struct ItemOutcome {
  enum class Verdict {
    kDone,
    kFailed,  // permanently; do not retry
    kAgain,   // retry later: something that the item needs is unavailable
  };
  Verdict verdict = Verdict::kDone;
  std::string run_id = {};      // of the run that the item created; empty if none
  std::string error_json = {};  // empty for kDone
};

// The reason why an item of a stopped action has no outcome.
enum class Undone {
  kNotBegun,
  kUnknown,  // a member had begun the item and did not record its outcome
};

// Executes one item. Blocks as a request does.
class BulkItemRunner {
 public:
  virtual ~BulkItemRunner() = default;
  virtual ItemOutcome Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                         EarlierAttempt tried) = 0;
  // Returns the outcome of an item that need not be executed; nullopt: execute the item.
  virtual std::optional<ItemOutcome> Precheck(const BulkOrder& order, const Caller& caller,
                                              const BulkItem& item) = 0;
  // The error to store for an item that was left undone, as JSON.
  virtual std::string ErrorOf(const BulkOrder& order, Undone undone) = 0;
};

class BulkWorker final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 5s;  // for actions that other members left unfinished
  static constexpr Duration kLease = 30s;
  static constexpr Duration kLeaseSpare = 15s;
  static constexpr Duration kRightsFor = kLease;  // after this, the caller's rights are read again
  static constexpr Duration kRecordEvery = 1s;
  static constexpr Duration kRest = 50ms;  // between pieces
  static constexpr Duration kRetry = 1s;
  static constexpr Duration kLongestRetry = 8s;
  static constexpr size_t kPiece = 50;   // items marked as begun in one write
  static constexpr int64_t kTurn = 500;  // items of one action before another action gets a turn
  static constexpr int kTriesMax = 6;    // for one item, counted only while the store answers

  struct Ports {
    const Clock& clock;
    BulkStore& store;
    std::function<Result<WallTime>()> cluster_now;
    std::function<bool()> store_trusted;
    // Reads the caller's present rights (Authenticator::Resume).
    std::function<Result<Resumed>(const Grant&)> resume;
    BulkItemRunner& runner;
    Metrics& metrics;
  };
  explicit BulkWorker(Ports ports) : ports_(std::move(ports)) {}

  SteadyTime Step(SteadyTime now) override;
  // Announces a new action. Wake the loop afterwards.
  void Nudge() { nudged_ = true; }
  // Records finished items and releases the lease, so that another member can continue at once.
  void Leave();

 private:
  struct Work {
    BulkAction action;
    BulkLease lease;
    SteadyTime held_until;
    SteadyTime resumed = {};  // when `caller` was read
    Caller caller = {};
    std::deque<BulkItem> piece = {};      // marked as begun, to be executed
    std::vector<BulkItem> finished = {};  // executed, but not recorded yet
    SteadyTime record_at = {};            // when to record `finished`
    int64_t turn = 0;                     // number of items in this turn so far
    int tries = 0;                        // of the next item, so far
  };

  // The present time by two clocks. `steady` is read first. So the lease in the store, which ends
  // at `cluster` + kLease, does not end before `steady` + kLease. Both clocks are read again for
  // each renewal, because an item may take longer than a lease.
  struct Moment {
    SteadyTime steady;
    WallTime cluster;
  };

  SteadyTime Take(SteadyTime now, WallTime cluster_now);
  SteadyTime NextPiece(SteadyTime now, WallTime cluster_now);
  SteadyTime DoNext(SteadyTime now, WallTime cluster_now);
  // Records finished items and renews the lease. Returns false if that failed. If the lease is
  // lost, `work_` is empty afterwards.
  bool Record();
  Result<Moment> ReadTime() const;
  bool LeaseIsShort(SteadyTime now) const { return now + kLeaseSpare > work_->held_until; }
  // Reads the caller's rights. Returns true if the action may continue. Returns false if the action
  // was stopped, or if the rights could not be read.
  bool Resume(WallTime cluster_now);
  // Finishes the items that need not be executed. Returns false if some items could not
  // be examined.
  bool Precheck(const std::vector<BulkItem>& items);
  void Finish(const BulkItem& item, const ItemOutcome& outcome);
  void Drop(std::string_view why);
  SteadyTime WaitUntil(SteadyTime time) { return next_ = time; }
  // Handles an error of the store. Drops the work if the lease is lost; otherwise the
  // caller retries.
  void Failed(const Error& error);

  const Ports ports_;
  std::atomic<bool> nudged_ = false;
  std::optional<Work> work_;
  SteadyTime next_{};  // nothing is done before this, except after a nudge
};

}  // namespace carillon::scheduler
