// Takes the segments that are assigned to this member and releases other segments. Also keeps two
// things fresh: the store's proof of ownership, and the measurement of cluster time.
//
// Place    Before step 1 of docs/life-of-a-run.md.
// Threads  One loop calls Step, which waits for the store. While it waits, session_proof.h provides
//          the proof that renewals of leases need.
// Time     Cluster time is measured before any segment is taken. While this host's clock is off by
//          more than the limit, nothing is owned.
// Errors   Retried at the next Step. A Take with an unknown outcome is simply repeated. The same
//          incarnation then takes the segments again with a higher epoch.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/store/segment_store.h"
#include "scheduler/assign/assignment_follower.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"

namespace carillon::scheduler {

class SegmentOwner final : public Stepper {
 public:
  struct Options {
    MemberId self;
    Incarnation incarnation;
    Duration lease = 20s;               // that this member grants to attempts; recorded with Take
    Duration proof_every = 1s;          // between reads of the current epochs
    Duration clock_offset_max = 500ms;  // between this host's clock and the database's
    Duration release_wait = 1s;         // after this, segments of a live owner are taken by force
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
    // While the function returns false, no segment is taken.
    std::function<bool()> store_trusted = [] { return true; };
  };
  SegmentOwner(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  // Releases all segments, so that other members can take them at once. Stop the loops first.
  void Leave();

  // Thread-safe. True if this host's clock was measured and is within the limit.
  bool clock_trusted() const { return clock_trusted_.load(std::memory_order_relaxed); }
  // Thread-safe. The time of the store's last answer; zero = it has not answered yet.
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
  // True if another process has joined as a member with this member's id.
  bool IsTwice(const std::vector<MemberInfo>& members, SteadyTime now);

  const Ports ports_;
  const Options options_;
  Rng rng_;
  Backoff backoff_;
  SteadyTime next_sample_{};
  SteadyTime next_take_{};
  SteadyTime next_proof_{};
  Generation waiting_for_;  // of the assignment whose former owners may still release
  SteadyTime release_deadline_{};
  bool waits_ = false;  // a former owner has not released yet
  // The time when another process with this member's id was first seen, or when that
  // was last logged.
  std::optional<SteadyTime> twice_since_;
  size_t samples_taken_ = 0;
  std::atomic<bool> clock_trusted_{false};
  std::atomic<int64_t> last_answer_us_{0};
};

}  // namespace carillon::scheduler
