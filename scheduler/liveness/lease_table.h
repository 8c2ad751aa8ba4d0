// The leases of attempts that executors run for this owner. A lease says until when its attempt
// counts as alive.
//
// Leases are in memory only. Their rules:
//   1  `lost_at` is computed from the time at which this owner granted the lease. The executor
//      computes the end of its lease from the time at which it sent the request. That time is
//      earlier, so the executor always gives up first.
//   2  An attempt is marked before it is put into a LOST batch. A marked attempt cannot get a
//      renewed or a new lease. Its token is remembered as lost for a while. So a claim that was
//      decided before the loss but answered after it gets no lease either.
//   3  `lost_at` only moves later. Adoption and renewal never shorten it.
//
// Place    Steps 7 to 9 of docs/life-of-a-run.md. Claims grant leases, heartbeats renew them,
//          results erase them, and recovery takes expired ones.
// Threads  Thread-safe. Takes its lock once per batch.
// Time     `now` is this member's steady clock.
// Always   Every committed claim gets a lease. Without a lease, nothing would find the run again
//          while this owner lives. So `leases_max` is enforced earlier: callers check Room before
//          they write a claim. A batch already on its way, and runs found by a takeover, may
//          exceed the limit.
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

// An attempt whose lease has expired. It is marked and must now be written as LOST.
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
    kNotOwned,  // the segment is no longer held under `epoch`: do not answer the claim
  };
  // One answer per item, in the same order.
  std::vector<Grant> GrantAll(const LeaseHolder& holder, const std::vector<GrantItem>& items,
                              SteadyTime now);
  // Returns how many more claims may be written.
  size_t Room() const;
  // True if the attempt was marked or declared lost. A claim for it must then be refused.
  bool IsLost(const RunKey& key, ClaimToken token) const;

  // Files leases for runs found RUNNING at a takeover. A lease that exists under the same epoch
  // is not changed.
  void AddFound(const std::vector<RunRow>& running, Epoch epoch, SteadyTime lost_at);

  // Renews leases of the attempts in `listed` and returns the renewed attempts. An attempt must
  // have the same token and must not be marked, and its segment must be owned with a fresh proof.
  // The leases then belong to `holder`, because a restarted daemon reports the attempts that its
  // warden kept running.
  std::vector<HeldAttempt> Renew(const LeaseHolder& holder, const std::vector<HeldAttempt>& listed,
                                 SteadyTime now);

  // Call it when the database has recorded the end of these attempts.
  void Erase(const std::vector<HeldAttempt>& ended);

  // Marks and returns up to `limit` attempts whose `lost_at` has passed. Drops the leases of
  // segments that are no longer owned under their epoch. A marked attempt is returned by each call
  // until Resolve or Erase removes it.
  std::vector<ExpiredLease> TakeExpired(SteadyTime now, size_t limit);
  // Call it when the database has decided about these attempts: they are lost, or their state
  // had changed meanwhile.
  void Resolve(const std::vector<ExpiredLease>& decided, SteadyTime now);

  // The last holder of the attempt; nullopt when unknown.
  std::optional<LeaseHolder> HolderOf(const RunKey& key, ClaimToken token) const;
  bool Knows(const RunKey& key) const;
  // Number of other runs of the job that have a lease here, themselves or for any of their parts.
  // This is a first check for the overlap rule; the claim decides.
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
  void RemoveRunLocked(JobNo job) REQUIRES(mu_);
  void ForgetOldLossesLocked(SteadyTime now) REQUIRES(mu_);

  const LeaseOptions options_;
  const SegmentTable& segments_;
  mutable Mutex mu_;
  Leases leases_ GUARDED_BY(mu_);
  std::unordered_map<JobNo, int> runs_of_job_ GUARDED_BY(mu_);
  std::unordered_map<RunKey, int> parts_ GUARDED_BY(mu_);  // leases, by the key of the own run
  std::set<ClaimToken> lost_ GUARDED_BY(mu_);              // tokens declared lost
  // The time at which each token of `lost_` is forgotten; ascending.
  std::deque<std::pair<SteadyTime, ClaimToken>> lost_until_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
