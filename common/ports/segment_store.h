// Ownership of segments: the store is its only authority.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/ports/fence.h"

namespace carillon {

struct SegmentRecord {
  SegmentId segment;
  MemberId owner;           // empty = never taken
  Incarnation incarnation;  // of the owner's process
  Epoch epoch;
  Generation assign_gen;
  bool released = false;       // the owner said that it writes nothing more, or there is none
  Duration lease = {};         // the owner's; does it not tell (schema 19): an earlier one's, or 0
  Duration lease_before = {};  // the longest of owners before it that might be in force at `taken`
  WallTime taken = {};         // by the database's clock
};

// The time that a change of ownership may take, from the moment a Take reads the clock until no
// earlier owner grants any more: waits for locks, and the margins of both owners.
inline constexpr Duration kTakeLongest = 30s;

// The longest lease that may be in force, at `now`, of the owner in the record and those before it.
inline Duration LeaseInForce(const SegmentRecord& record, WallTime now) {
  const bool over = now > record.taken + record.lease_before + kTakeLongest;
  return over ? record.lease : std::max(record.lease, record.lease_before);
}

struct TakeRequest {
  MemberId member;
  Incarnation incarnation;
  Generation generation;            // of the assignment that gives these segments to the member
  std::vector<SegmentId> segments;  // sorted
  Duration lease = {};              // that the member grants
};

struct TakenSegments {
  Fence fence;                 // with their new epochs
  Duration lease_before = {};  // the longest of owners before, of any of them, that may be in force
};

class SegmentStore {
 public:
  virtual ~SegmentStore() = default;

  // Cluster time: the database's clock, with microseconds.
  virtual Result<WallTime> Now() = 0;

  // Takes what of `segments` the rules allow (assign_gen < generation, or equal and owned by this
  // incarnation), in one transaction: closes the old owner's connections, owner, epoch + 1. Returns
  // the segments taken; the others are simply absent. After kTimeout: call again (same generation,
  // same incarnation takes again with a higher epoch).
  virtual Result<TakenSegments> Take(const TakeRequest& request) = 0;

  // This owner begins no write under these epochs any more, so the next one need not close its
  // connections, nor wait for it. Epochs that are over are passed over.
  virtual Status Release(const Fence& fence) = 0;

  // Locks and reads the epochs now in force: a proof of ownership as old as the call's start.
  virtual Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) = 0;

  // All segments, for status; no locks.
  virtual Result<std::vector<SegmentRecord>> ListSegments() = 0;
};

}  // namespace carillon
