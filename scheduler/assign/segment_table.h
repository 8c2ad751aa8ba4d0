// The segments that this member owns, their epochs, and the age of each proof of ownership.
//
// Place    segment_owner.h fills it; every room that writes takes its fence from here.
// Threads  Thread-safe. View() hands out an immutable snapshot.
// Time     A proof ages from the time when its request was sent, by this member's steady clock.
// Always   A segment that was dropped and taken again has a higher epoch. Data in memory that
//          carries the old epoch is recognised by it and ignored.
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
  Generation generation;       // of the assignment under which it was taken or last kept
  uint64_t joins = 0;          // Coordinator::Joins() when it was taken
  bool kept = false;           // kept under a later generation than it was taken under
  SteadyTime taken;            // when Take returned, so not before the commit of the epoch
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
  // Segments dropped because of an unknown outcome or a held store and not taken again yet; sorted.
  // Their leases are still renewed.
  const Fence& suspended() const { return suspended_; }
  bool IsSuspended(SegmentId segment, Epoch epoch) const;
  const std::vector<OwnedSegment>& all() const { return owned_; }  // ascending
  std::vector<SegmentId> Segments() const;
  std::vector<SegmentId> ActiveSegments() const;
  // Returns the fence of the owned ones among `segments`. The list may be in any order and may
  // contain duplicates.
  Fence FenceFor(std::vector<SegmentId> segments) const;

 private:
  std::vector<OwnedSegment> owned_;
  Fence suspended_;
};

// Why ownership ended. After kUnknownOutcome and kStoreHeld the segment is suspended.
enum class DropCause { kFenced, kUnknownOutcome, kReassigned, kClockUntrusted, kStoreHeld };
std::string_view Name(DropCause cause);

class SegmentTable {
 public:
  explicit SegmentTable(Duration proof_max_age) : proof_max_age_(proof_max_age) {}

  // `wake` is called after each change, from any thread, outside the lock. Set it before first use.
  void OnChange(std::function<void()> wake) { wake_ = std::move(wake); }

  // Adds segments after a Take that was sent and returned at these times. `joins` is
  // Coordinator::Joins(), read before the Take.
  void Add(const Fence& taken, Generation generation, SteadyTime sent, SteadyTime returned,
           uint64_t joins, Duration lease_before = {});
  // Drops the segments that are held under the same epoch as in `fence`. Returns how many segments
  // left the view.
  size_t Drop(const Fence& fence, DropCause cause);
  void Activate(const Fence& fence);
  // Call it after a fenced operation, sent at `sent`, found that these epochs are the current ones.
  void Proved(const Fence& fence, SteadyTime sent);
  // Call it when the assignment with this generation gives `wanted` (ascending) to this member.
  // Segments held under the previous generation are now held under this one, because no other
  // member was told to take them in between. This excludes segments that missed a generation, under
  // which another member may have taken them, and segments taken before this client last joined:
  // while it was not a member, another process with the same id may have taken them.
  void Keep(Generation generation, uint64_t joins, const std::vector<SegmentId>& wanted);
  // Call it when this member's session was alive after `sent` while `generation` was current. That
  // proves the ownership of segments taken or kept under exactly that generation; of kept ones only
  // if they were taken in the same session.
  void ProvedBySession(Generation generation, uint64_t joins, SteadyTime sent);

  // The time of the oldest proof among all segments, including suspended ones; nullopt if there are
  // no segments.
  std::optional<SteadyTime> OldestProof() const;
  // True if the leases of the segment may be renewed: it is held under this epoch, and its last
  // proof of ownership is younger than the limit.
  bool MayRenew(SegmentId segment, Epoch epoch, SteadyTime now) const;

  std::shared_ptr<const OwnedView> View() const;
  // Changes with every Add, Drop, Activate and Keep.
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
