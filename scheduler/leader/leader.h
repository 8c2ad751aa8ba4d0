// Membership and, on the member that leads, the assignment of segments.
//
// Place    Before step 1 of docs/life-of-a-run.md. Never needed for correctness: the store
//          decides who owns a segment (segment_owner.h).
// Threads  One loop calls Step; is_leader() is thread-safe.
// Errors   Retried at the next Step. Session expired: joins again from scratch.
// Always   Each written generation is above every one the store has seen, so that its assignment
//          can be taken, even when the coordinator was emptied.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/segment_store.h"
#include "scheduler/leader/member_urls.h"

namespace carillon::scheduler {

class LeaderLoop final : public Stepper {
 public:
  struct Options {
    MemberInfo self;
    uint64_t seed = 1;
    // False: leave and stay away (this host's clock is off), so that others take over.
    std::function<bool()> fit = [] { return true; };
    // False: stay, and lead nobody: what this store says of segments may be another one's.
    std::function<bool()> store_trusted = [] { return true; };
  };
  LeaderLoop(const Clock& clock, Coordinator& coordinator, SegmentStore& segments, Metrics& metrics,
             Options options);

  SteadyTime Step(SteadyTime now) override;

  bool is_leader() const { return is_leader_.load(std::memory_order_relaxed); }
  // Told to the others when it joins. Before the first Step.
  void SetUrls(MemberUrls urls) {
    self_.rest_url = std::move(urls.rest);
    self_.ops_url = std::move(urls.ops);
  }
  // Leaves the membership; the next Step would join again.
  void Leave();

 private:
  bool EnsureJoined(SteadyTime now);
  void Lead(SteadyTime now);
  Status WriteUpTo(Assignment assignment, Generation stored, Generation wanted);
  // Segments whose recorded owner is not the assigned process, although nobody can take them under
  // the present generation (its process was replaced).
  bool NeedsNewGeneration(const Assignment& current, const std::vector<SegmentRecord>& records,
                          const std::vector<MemberInfo>& members) const;

  const Clock& clock_;
  Coordinator& coordinator_;
  SegmentStore& segments_;
  Metrics& metrics_;
  const Options options_;
  MemberInfo self_;
  Rng rng_;
  Backoff backoff_;
  bool joined_ = false;
  SteadyTime next_try_{};
  std::atomic<bool> is_leader_{false};
};

}  // namespace carillon::scheduler
