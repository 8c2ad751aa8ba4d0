// Takes the segments the assignment gives to this member, gives up the others, and keeps the
// store's proof of ownership and cluster time fresh.
//
// Place    Before step 1 of docs/life-of-a-run.md.
// Threads  One loop calls Step, which waits for the store: leases that must be renewed meanwhile
//          have session_proof.h.
// Time     Never leads: cluster time is measured before anything is taken; beyond the offset limit
//          everything is released.
// Errors   Retried at the next Step; a Take whose outcome is unknown is simply repeated (the same
//          incarnation takes again with a higher epoch).
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "common/base/backoff.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/segment_store.h"
#include "scheduler/assign/assignment_follower.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"

namespace carillon::scheduler {

class SegmentOwner final : public Stepper {
 public:
  struct Options {
    MemberId self;
    Incarnation incarnation;
    // False: take nothing.
    std::function<bool()> store_trusted = [] { return true; };
    Duration lease = 20s;  // that this member grants
    Duration proof_every = 1s;
    Duration clock_offset_max = 500ms;
    Duration release_wait = 1s;  // for an owner that lives, before its segments are taken by force
    uint64_t seed = 1;
  };
  struct Ports {
    const Clock& clock;
    SegmentStore& segments;
    Coordinator& coordinator;
    ClusterClock& cluster;
    SegmentTable& table;
    AssignmentFollower& assignment;
    FencedWriter& fences;
    Metrics& metrics;
  };
  SegmentOwner(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  // Gives up everything, so that others can take it at once. Stop the loops first.
  void Leave();

  // Thread-safe: the clock is measured and within the limit.
  bool clock_trusted() const { return clock_trusted_.load(std::memory_order_relaxed); }
  // Thread-safe: when the store last answered; zero = never.
  SteadyTime last_answer() const { return SteadyTime(Duration(last_answer_us_.load())); }

 private:
  void MeasureClock(SteadyTime now);
  void JudgeClock();
  void FollowAssignment(SteadyTime now);
  std::vector<SegmentId> Missing(const Assignment& assignment, SteadyTime now);
  void TakeMissing(const Assignment& assignment, const std::vector<SegmentId>& missing);
  void GiveUp(const Fence& fence, DropCause cause);
  void Release(const Fence& fence);
  void CountOwned();
  void RenewProof(SteadyTime now);
  // Another process of this member's name is among the members.
  bool IsTwice(const std::vector<MemberInfo>& members, SteadyTime now);

  const Ports ports_;
  const Options options_;
  Rng rng_;
  Backoff backoff_;
  SteadyTime next_sample_{};
  SteadyTime next_take_{};
  SteadyTime next_proof_{};
  Generation waiting_for_;  // the assignment whose former owners are waited for
  SteadyTime release_deadline_{};
  bool waits_ = false;
  std::optional<SteadyTime> twice_since_;  // or since it was last told
  size_t samples_taken_ = 0;
  std::atomic<bool> clock_trusted_{false};
  std::atomic<int64_t> last_answer_us_{0};
};

}  // namespace carillon::scheduler
