// Runs the items of background bulk actions, one action at a time.
//
// Place    One in each member, beside its API, because an item is executed like a request.
// Threads  One loop calls Step and, after the last Step, Leave; Nudge is thread-safe.
// Time     A lease lasts by cluster time in the store and by this member's steady clock here. No
//          item is begun with less than kLeaseSpare of the lease left.
// Errors   Store unavailable: waits and continues where it was; no item fails because of that.
// Always   One item a Step, so that a stop falls between two items. An item is recorded after it
//          was executed: after a crash in between another member executes it again, which runners
//          make harmless. A worker that has lost its lease records nothing.
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
#include "common/ports/store/bulk_store.h"
#include "scheduler/auth/authenticator.h"

namespace carillon::scheduler {

// Tells whether an item may have been executed earlier without a record of that.
enum class EarlierAttempt { kNo, kPossibly };

struct ItemOutcome {
  enum class Verdict {
    kDone,
    kFailed,  // permanently
    kAgain,   // retry: something that it needs is unavailable
  };
  Verdict verdict = Verdict::kDone;
  std::string run_id = {};      // of the run that the item created; empty if none
  std::string error_json = {};  // empty for kDone
};

// The reason for which an item of a stopped action has no outcome.
enum class Undone {
  kNotBegun,
  kUnknown,  // a member had begun it and did not record the outcome
};

// Executes one item. Blocks as a request does.
class BulkItemRunner {
 public:
  virtual ~BulkItemRunner() = default;
  virtual ItemOutcome Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                         EarlierAttempt tried) = 0;
  // The outcome of an item that need not be executed; nullopt: execute it.
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
  static constexpr Duration kRightsFor = kLease;  // then the caller's rights are read again
  static constexpr Duration kRecordEvery = 1s;
  static constexpr Duration kRest = 50ms;  // between pieces
  static constexpr Duration kRetry = 1s;
  static constexpr Duration kLongestRetry = 8s;
  static constexpr size_t kPiece = 50;   // items marked as begun in one write
  static constexpr int64_t kTurn = 500;  // items of one action before another one gets a turn
  static constexpr int kTriesMax = 6;    // of an item, counted only while the store answers

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
  // Records finished items and releases the lease, so that another member continues at once.
  void Leave();

 private:
  struct Work {
    BulkAction action;
    BulkLease lease;
    SteadyTime held_until;
    SteadyTime resumed = {};  // when `caller` was read
    Caller caller = {};
    std::deque<BulkItem> piece = {};      // marked as begun, to be executed
    std::vector<BulkItem> finished = {};  // not recorded yet
    SteadyTime record_at = {};            // when to record `finished`
    int64_t turn = 0;                     // items in this turn so far
    int tries = 0;                        // of the next item
  };

  // The present time. Read in the order of the fields, so that a lease until `cluster` + kLease
  // does not end before `steady` + kLease. Read again for each renewal, because an item may take
  // longer than a lease.
  struct Moment {
    SteadyTime steady;
    WallTime cluster;
  };

  SteadyTime Take(SteadyTime now, WallTime cluster_now);
  SteadyTime NextPiece(SteadyTime now, WallTime cluster_now);
  SteadyTime DoNext(SteadyTime now, WallTime cluster_now);
  // Records finished items and renews the lease. Returns false if that failed; if the lease is
  // lost, `work_` is gone.
  bool Record();
  Result<Moment> ReadTime() const;
  bool LeaseIsShort(SteadyTime now) const { return now + kLeaseSpare > work_->held_until; }
  // Reads the caller's rights. True if the action may continue; false: it was stopped, or the
  // rights could not be read.
  bool Resume(WallTime cluster_now);
  // Finishes the items that need not be executed. Returns false if that could not be decided
  // for all.
  bool Precheck(const std::vector<BulkItem>& items);
  void Finish(const BulkItem& item, const ItemOutcome& outcome);
  void Drop(std::string_view why);
  SteadyTime WaitUntil(SteadyTime time) { return next_ = time; }
  // Handles an error of the store: drops the work if the lease is lost; otherwise it is retried.
  void Failed(const Error& error);

  const Ports ports_;
  std::atomic<bool> nudged_ = false;
  std::optional<Work> work_;
  SteadyTime next_{};  // nothing is done before this, except after a nudge
};

}  // namespace carillon::scheduler
