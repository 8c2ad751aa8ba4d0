// The attempts that executors run for this owner, and until when each must be believed alive.
//
// Leases are in memory only. Their rules:
//   1  `lost_at` counts from the moment this owner granted the lease, and the executor's own lease
//      from when its request was sent, which is earlier: the executor always gives up first.
//   2  A run put into a LOST batch is marked first; from then on it is neither renewed nor granted.
//      Its token stays known as lost for a while, so that a claim that was decided before the loss
//      but answered after it is not granted either.
//   3  `lost_at` only moves later: neither adoption nor renewal shortens it.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md: claims grant, heartbeats renew, results erase,
//          recovery takes what expired.
// Threads  Thread-safe; one lock a batch.
// Time     `now` is this member's steady clock.
// Always   A claim that is committed gets its lease: nothing else would find the run again while
//          this owner lives. `leases_max` is kept by asking Room before a claim is written; a batch
//          that was on its way, and what a takeover finds, may go beyond it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/executor_link.h"
#include "scheduler/assign/segment_table.h"

namespace carillon::scheduler {

struct LeaseOptions {
  Duration lease = 20s;
  Duration own_loss_margin = 5s;
  size_t leases_max = 500'000;
};

struct LeaseHolder {
  ExecutorId executor;
  Incarnation incarnation;
};

// An attempt whose lease is over, marked; MarkLost is next.
struct ExpiredLease {
  LostReport report;
  Epoch epoch;
  LeaseHolder holder;
};

class LeaseTable {
 public:
  LeaseTable(LeaseOptions options, const SegmentTable& segments)
      : options_(options), segments_(segments) {}

  struct GrantItem {
    HeldAttempt held;
    Epoch epoch;  // of the fence under which the claim was accepted
  };
  enum class Grant {
    kGranted,
    kLost,      // marked or declared lost meanwhile: must not start
    kNotOwned,  // the segment is not held under that epoch any more: say nothing
  };
  // One answer for each item.
  std::vector<Grant> GrantAll(const LeaseHolder& holder, const std::vector<GrantItem>& items,
                              SteadyTime now);
  // How many more claims may be written.
  size_t Room() const;
  // Attempts that must not even be claimed again.
  bool IsLost(const RunKey& key, ClaimToken token) const;

  // Runs found RUNNING at a takeover. Keeps what is known under the same epoch.
  void AddFound(const std::vector<RunRow>& running, Epoch epoch, SteadyTime lost_at);

  // Renews those of `listed` whose token matches, that are not marked,
  // and whose segment is owned with a fresh proof; adopts them for
  // `holder` (a daemon that came back reports what its warden kept).
  std::vector<HeldAttempt> Renew(const LeaseHolder& holder, const std::vector<HeldAttempt>& listed,
                                 SteadyTime now);

  // The attempt ended and the database has it.
  void Erase(const std::vector<HeldAttempt>& ended);

  // Marks and returns up to `limit` attempts whose lost_at has passed; forgets those of segments
  // that are not owned under their epoch any more. Marked ones are returned again by each call
  // until Resolve or Erase.
  std::vector<ExpiredLease> TakeExpired(SteadyTime now, size_t limit);
  // The database has decided about them (lost, or moved meanwhile).
  void Resolve(const std::vector<ExpiredLease>& decided, SteadyTime now);

  // Who held the attempt last; nullopt when unknown.
  std::optional<LeaseHolder> HolderOf(const RunKey& key, ClaimToken token) const;
  bool Knows(const RunKey& key) const;
  // Another run of the job has a lease here (first look of the overlap rule; the claim decides).
  bool AnotherRunActive(JobNo job, const RunKey& key) const;
  size_t size() const;

 private:
  struct Lease {
    HeldAttempt held;
    LeaseHolder holder;
    Epoch epoch;
    SteadyTime lost_at;
    bool marked = false;
  };
  using Leases = std::unordered_map<RunKey, Lease>;

  Grant JudgeLocked(const GrantItem& item, const OwnedView& view) const REQUIRES(mu_);
  void PutLocked(Lease lease) REQUIRES(mu_);
  Leases::iterator RemoveLocked(Leases::iterator at) REQUIRES(mu_);
  void ForgetOldLossesLocked(SteadyTime now) REQUIRES(mu_);

  const LeaseOptions options_;
  const SegmentTable& segments_;
  mutable Mutex mu_;
  Leases leases_ GUARDED_BY(mu_);
  std::unordered_map<JobNo, int> runs_of_job_ GUARDED_BY(mu_);
  std::set<ClaimToken> lost_ GUARDED_BY(mu_);
  std::deque<std::pair<SteadyTime, ClaimToken>> lost_until_ GUARDED_BY(mu_);  // by time
};

}  // namespace carillon::scheduler
