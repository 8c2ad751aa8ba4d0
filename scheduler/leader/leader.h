// Keeps this member's membership. On the leader, also writes the assignment of segments.
//
// Place    Before step 1 of docs/life-of-a-run.md. Correctness does not depend on this class: the
//          store decides which member owns a segment (segment_owner.h).
// Threads  One loop calls Step; is_leader() is thread-safe.
// Errors   Retried at the next Step. If the session has expired, the member joins again.
// Always   A written generation is higher than every generation in the store. So segments can be
//          taken under it even if the coordinator has lost its data.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/store/segment_store.h"
#include "scheduler/leader/member_urls.h"

namespace carillon::scheduler {

class LeaderLoop final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    Coordinator& coordinator;
    SegmentStore& segments;
    Metrics& metrics;
    // Returns false if this host's clock is off. The member then leaves and stays away, so that
    // other members take over.
    std::function<bool()> fit = [] { return true; };
    // While it returns false, the member stays but writes no assignment, because the records of
    // segments may come from another store.
    std::function<bool()> store_trusted = [] { return true; };
  };
  struct Options {
    MemberInfo self;
    uint64_t seed = 1;
  };
  LeaderLoop(Ports ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  bool is_leader() const { return is_leader_.load(std::memory_order_relaxed); }
  // Sets the URLs that the member announces when it joins. Call it before the first Step.
  void SetUrls(MemberUrls urls) {
    self_.rest_url = std::move(urls.rest);
    self_.ops_url = std::move(urls.ops);
  }
  // Leaves the membership. At shutdown stop the loop first, because the next Step would join again.
  void Leave();

 private:
  bool EnsureJoined(SteadyTime now);
  void Lead(SteadyTime now);
  Status WriteUpTo(Assignment assignment, Generation stored, Generation wanted);
  // True if some segment can be taken only under a new generation. There are two cases:
  // - The segment was already taken under a later generation.
  // - The segment was already taken under the current generation, but not by the process to which
  //   it is now assigned. For example, the predecessor of this process has taken it.
  bool NeedsNewGeneration(const Assignment& current, const std::vector<SegmentRecord>& records,
                          const std::vector<MemberInfo>& members) const;

  const Ports ports_;
  const Options options_;
  MemberInfo self_;
  Rng rng_;
  Backoff backoff_;
  bool joined_ = false;
  SteadyTime next_try_{};
  std::atomic<bool> is_leader_{false};
};

}  // namespace carillon::scheduler
