// The segments that this member owns, their epochs, and the age of each proof of ownership.
//
// Place    segment_owner.h fills the table. Every room that writes takes its fence from it.
// Threads  Thread-safe. View() hands out an immutable snapshot.
// Time     A proof ages from the time when its request was sent, by this member's steady clock.
// Always   A segment that was dropped and taken again has a higher epoch. So data in memory that
//          carries the old epoch is recognised and ignored.
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
  Generation generation;       // of the assignment under which the segment was taken or last kept
  uint64_t joins = 0;          // value of Coordinator::Joins() when the segment was taken
  bool kept = false;           // kept under a later generation than it was taken under
  SteadyTime taken;            // the time when Take returned, after the commit of the epoch
  Duration lease_before = {};  // the longest lease of earlier owners that may still be valid
  bool active = false;         // recovered, so its jobs may be planned
};

// Ownership at one moment. Immutable.
class OwnedView {
 public:
  OwnedView() = default;
  OwnedView(std::vector<OwnedSegment> owned, Fence suspended)
      : owned_(std::move(owned)), suspended_(std::move(suspended)) {}

  const OwnedSegment* Find(SegmentId segment) const;
  bool Holds(SegmentId segment, Epoch epoch) const;
  // Segments that were dropped because of an unknown outcome or a held store, and that were not
  // taken again yet; sorted. Their leases are still renewed.
  const Fence& suspended() const { return suspended_; }
  bool IsSuspended(SegmentId segment, Epoch epoch) const;
  const std::vector<OwnedSegment>& all() const { return owned_; }  // ascending
  std::vector<SegmentId> Segments() const;
  std::vector<SegmentId> ActiveSegments() const;
  // Returns the fence of those `segments` that are owned. The list may be in any order and
  // may contain duplicates.
  Fence FenceFor(std::vector<SegmentId> segments) const;

 private:
  std::vector<OwnedSegment> owned_;
  Fence suspended_;
};

// The cause that ended ownership. After kUnknownOutcome and kStoreHeld the segment is suspended.
enum class DropCause { kFenced, kUnknownOutcome, kReassigned, kClockUntrusted, kStoreHeld };
std::string_view Name(DropCause cause);

class SegmentTable {
 public:
  explicit SegmentTable(Duration proof_max_age) : proof_max_age_(proof_max_age) {}

  // `wake` is called after each change, from any thread, outside the lock. Set it before first use.
  void OnChange(std::function<void()> wake) { wake_ = std::move(wake); }

  // Adds segments after a Take. `sent` and `returned` are the times when the Take was sent and when
  // it returned. `joins` is Coordinator::Joins(), read before the Take.
  void Add(const Fence& taken, Generation generation, SteadyTime sent, SteadyTime returned,
           uint64_t joins, Duration lease_before = {});
  // Drops the segments that are held under the same epoch as in `fence`. Returns the number of
  // segments that left the view.
  size_t Drop(const Fence& fence, DropCause cause);
  void Activate(const Fence& fence);
  // Call it after a fenced operation has found that the epochs of `fence` are the current ones.
  // `sent` is the time when the operation was sent.
  void Proved(const Fence& fence, SteadyTime sent);
  // Call it when the assignment with this generation gives `wanted` (ascending) to this member.
  // Segments held under the previous generation are now held under the new one, because no other
  // member was told to take them in between. Two kinds of segments are left out, because another
  // process may have taken them:
  // - segments that missed a generation: another member may have been told to take them;
  // - segments taken before this client last joined: while it was not a member, another process
  //   with the same id may have taken them.
  void Keep(Generation generation, uint64_t joins, const std::vector<SegmentId>& wanted);
  // Call it when this member's session was alive after `sent` while `generation` was current. That
  // proves the ownership of the segments taken or kept under exactly this generation. A kept
  // segment is proved only if it was taken in the same session.
  void ProvedBySession(Generation generation, uint64_t joins, SteadyTime sent);

  // The time of the oldest proof among all segments, including suspended ones. nullopt if there
  // are no segments.
  std::optional<SteadyTime> OldestProof() const;
  // True if the leases of the segment may be renewed: the segment is held under this epoch, and its
  // last proof of ownership is younger than the limit.
  bool MayRenew(SegmentId segment, Epoch epoch, SteadyTime now) const;

  std::shared_ptr<const OwnedView> View() const;
  // A number that changes with every Add, Drop, Activate and Keep.
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
