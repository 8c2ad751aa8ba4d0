// The leases of attempts that executors run for this owner. A lease says until when an attempt
// counts as alive.
//
// Leases are in memory only. Their rules:
//   1  `lost_at` is computed from the time at which this owner granted the lease. The executor
//      computes the end of its lease from the time at which it sent the request, which is earlier.
//      So the executor always gives up first.
//   2  An attempt is marked before it is put into a LOST batch. From then on its lease cannot be
//      renewed or granted. Its token is remembered as lost for a while, so that a claim that was
//      decided before the loss but answered after it is not granted either.
//   3  `lost_at` only moves later. Adoption and renewal never shorten it.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md: claims grant, heartbeats renew, results erase,
//          recovery takes what expired.
// Threads  Thread-safe; takes its lock once per batch.
// Time     `now` is this member's steady clock.
// Always   Every committed claim gets a lease, because without one nothing would find the run again
//          while this owner lives. So `leases_max` is enforced earlier: callers check Room before
//          they write a claim. A batch already on its way, and runs found by a takeover, may exceed
//          the limit.
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
  Duration lease = 20s;           // as granted to executors
  Duration own_loss_margin = 5s;  // from the end of the lease to `lost_at`
  size_t leases_max = 500'000;
};

// The process that holds a lease.
struct LeaseHolder {
  ExecutorId executor;
  Incarnation incarnation;
};

// An attempt whose lease has expired. It is marked, and must now be written as LOST.
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
    kLost,      // marked or declared lost meanwhile: the attempt must not start
    kNotOwned,  // the segment is no longer held under that epoch: do not answer the claim
  };
  // One answer per item, in the same order.
  std::vector<Grant> GrantAll(const LeaseHolder& holder, const std::vector<GrantItem>& items,
                              SteadyTime now);
  // Returns how many more claims may be written.
  size_t Room() const;
  // True if the attempt was marked or declared lost: a claim of it must be refused.
  bool IsLost(const RunKey& key, ClaimToken token) const;

  // Files leases for runs found RUNNING at a takeover. A lease that exists under the same epoch is
  // not changed.
  void AddFound(const std::vector<RunRow>& running, Epoch epoch, SteadyTime lost_at);

  // Renews the leases of the attempts in `listed` whose token matches, that are not marked, and
  // whose segment is owned with a fresh proof. Returns these attempts. Their leases then belong to
  // `holder`, because a restarted daemon reports the attempts that its warden kept running.
  std::vector<HeldAttempt> Renew(const LeaseHolder& holder, const std::vector<HeldAttempt>& listed,
                                 SteadyTime now);

  // Call when the database has recorded the end of these attempts.
  void Erase(const std::vector<HeldAttempt>& ended);

  // Marks and returns up to `limit` attempts whose `lost_at` has passed. Drops the leases of
  // segments that are no longer owned under their epoch. Each call returns a marked attempt again
  // until Resolve or Erase removes it.
  std::vector<ExpiredLease> TakeExpired(SteadyTime now, size_t limit);
  // Call when the database has decided about these attempts: they are lost, or their state had
  // changed meanwhile.
  void Resolve(const std::vector<ExpiredLease>& decided, SteadyTime now);

  // The last holder of the attempt; nullopt when unknown.
  std::optional<LeaseHolder> HolderOf(const RunKey& key, ClaimToken token) const;
  bool Knows(const RunKey& key) const;
  // Number of other runs of the job that have a lease here. This is a first check for the overlap
  // rule; the claim decides.
  int64_t OtherRuns(JobNo job, const RunKey& key) const;
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
  std::set<ClaimToken> lost_ GUARDED_BY(mu_);  // tokens declared lost
  // When each token of `lost_` is forgotten; ascending.
  std::deque<std::pair<SteadyTime, ClaimToken>> lost_until_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
