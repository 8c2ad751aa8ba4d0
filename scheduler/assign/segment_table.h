// The segments that this member owns, their epochs, and the age of the proof of ownership.
//
// Place    segment_owner.h fills it; every room that writes takes its fence from here.
// Threads  Thread-safe. View() hands out an immutable snapshot.
// Time     Proofs age from when their request was sent, by this member's steady clock.
// Always   A segment that was dropped and taken again has a higher epoch: memory that was filed
//          under the old one is recognised by it and ignored.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/time.h"
#include "common/ports/fence.h"

namespace carillon::scheduler {

struct OwnedSegment {
  SegmentId segment;
  Epoch epoch;
  Generation generation;  // of the assignment it was taken under, or the last it was kept under
  uint64_t joins = 0;     // of the coordinator's client when it was taken
  bool kept = false;      // under a later generation than it was taken under
  SteadyTime taken;       // when Take had returned: at or after the epoch's commit
  Duration lease_before = {};  // the longest lease of owners before that may be in force
  bool active = false;         // recovered: may be planned
};

// Ownership at one moment. Immutable.
class OwnedView {
 public:
  OwnedView() = default;
  OwnedView(std::vector<OwnedSegment> owned, Fence suspended)
      : owned_(std::move(owned)), suspended_(std::move(suspended)) {}

  const OwnedSegment* Find(SegmentId segment) const;
  bool Holds(SegmentId segment, Epoch epoch) const;
  // Dropped for an unknown outcome or with the store, and not taken again yet; sorted.
  const Fence& suspended() const { return suspended_; }
  bool IsSuspended(SegmentId segment, Epoch epoch) const;
  const std::vector<OwnedSegment>& all() const { return owned_; }  // ascending
  std::vector<SegmentId> Segments() const;
  std::vector<SegmentId> ActiveSegments() const;
  // The fence of those of `segments` that are owned; any order, repeats allowed.
  Fence FenceFor(std::vector<SegmentId> segments) const;

 private:
  std::vector<OwnedSegment> owned_;
  Fence suspended_;
};

enum class DropCause { kFenced, kUnknownOutcome, kReassigned, kClockUntrusted, kStoreHeld };
std::string_view Name(DropCause cause);

class SegmentTable {
 public:
  explicit SegmentTable(Duration proof_max_age) : proof_max_age_(proof_max_age) {}

  // Called after each change, from any thread, outside the lock. Set before first use.
  void OnChange(std::function<void()> wake) { wake_ = std::move(wake); }

  // `joins` is the coordinator's, read before.
  void Add(const Fence& taken, Generation generation, SteadyTime sent, SteadyTime returned,
           uint64_t joins, Duration lease_before = {});
  // Those held by another epoch are left alone. Returns how many left the view.
  size_t Drop(const Fence& fence, DropCause cause);
  void Activate(const Fence& fence);
  // A fenced operation that was sent at `sent` found these epochs in force.
  void Proved(const Fence& fence, SteadyTime sent);
  // The assignment `generation` gives `wanted` (ascending) to this member. What of it was held
  // under the generation just before is held under this one from now on: nobody was ever told to
  // take it. What missed a generation is not: another member may have taken it under that one. Nor
  // is what was taken before this client joined anew: while it was away, another process of the
  // same name may have taken it.
  void Keep(Generation generation, uint64_t joins, const std::vector<SegmentId>& wanted);
  // Our session lived after `sent` while `generation` was the assignment's: proves what was taken
  // or kept under exactly that generation; the latter only in the session it was taken in.
  void ProvedBySession(Generation generation, uint64_t joins, SteadyTime sent);

  // When the segment was proved that was not proved for longest, suspended ones included; nullopt:
  // nothing is held.
  std::optional<SteadyTime> OldestProof() const;
  // Leases may be renewed: owned by this epoch with a proof younger than the limit.
  bool MayRenew(SegmentId segment, Epoch epoch, SteadyTime now) const;

  std::shared_ptr<const OwnedView> View() const;
  // Moves with every Add, Drop, Activate and Keep.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  struct Held {
    OwnedSegment segment;
    SteadyTime proved;
    bool suspended = false;
  };
  void PublishLocked() REQUIRES(mu_);

  const Duration proof_max_age_;
  std::function<void()> wake_;
  std::atomic<uint64_t> version_{0};
  mutable Mutex mu_;
  std::map<SegmentId, Held> held_ GUARDED_BY(mu_);
  std::shared_ptr<const OwnedView> view_ GUARDED_BY(mu_) = std::make_shared<const OwnedView>();
};

}  // namespace carillon::scheduler
