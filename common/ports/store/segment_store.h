// Port of the ownership of segments, for which the store is the only authority.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/ports/fence.h"

namespace carillon {

// The ownership of a segment, as stored.
struct SegmentRecord {
  SegmentId segment;
  MemberId owner;           // empty = never taken
  Incarnation incarnation;  // of the owner's process
  Epoch epoch;
  Generation assign_gen;
  // True if the owner promised to write nothing more, or if there is no owner.
  bool released = false;
  // The lease that the owner grants.
  Duration lease = {};
  // The longest lease of earlier owners that might be in force at `taken`.
  Duration lease_before = {};
  WallTime taken = {};  // by the database's clock
};

// Take reads the clock. At most this much later, no earlier owner grants leases any more. The time
// includes the wait for locks and the margins of both owners.
inline constexpr Duration kTakeLongest = 30s;

// The longest lease that may be in force at `now`, of the owner in the record or an earlier one.
inline Duration LeaseInForce(const SegmentRecord& record, WallTime now) {
  const bool over = now > record.taken + record.lease_before + kTakeLongest;
  return over ? record.lease : std::max(record.lease, record.lease_before);
}

// A member's request for ownership.
struct TakeRequest {
  MemberId member;
  Incarnation incarnation;
  Generation generation;            // of the assignment that gives these segments to the member
  std::vector<SegmentId> segments;  // sorted
  Duration lease = {};              // the lease that the member grants
};

struct TakenSegments {
  Fence fence;  // with the new epochs
  // The longest lease of earlier owners that may be in force, over all segments taken.
  Duration lease_before = {};
};

class SegmentStore {
 public:
  virtual ~SegmentStore() = default;

  // Cluster time: the database's clock, in microseconds.
  virtual Result<WallTime> Now() = 0;

  // Takes, in one transaction, those of `segments` that the rules allow: the stored assign_gen is
  // below `generation`, or is equal and this incarnation owns the segment. Closes the old owner's
  // connections, sets the owner, and increments the epoch. Returns only the segments taken. After
  // kTimeout, call again with the same generation and incarnation: this takes the segments again,
  // with a higher epoch.
  virtual Result<TakenSegments> Take(const TakeRequest& request) = 0;

  // Promises that this owner starts no write under these epochs any more. So the next owner need
  // not close this owner's connections or wait for this owner. Epochs already over are ignored.
  virtual Status Release(const Fence& fence) = 0;

  // Locks and reads the current epochs, which proves ownership as of the start of the call.
  virtual Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) = 0;

  // All segments, for status displays. Takes no locks.
  virtual Result<std::vector<SegmentRecord>> ListSegments() = 0;
};

}  // namespace carillon
