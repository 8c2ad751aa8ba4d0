// Consistent hashing: each executor has points on a ring, and a run goes to the first executor with
// room after its own place. A new executor takes only its share of the places, and one that leaves
// gives up only its own.
//
// The points depend on the id and the weight of an executor only, so every member has the
// same ring.
//
// Threads  Not thread-safe; the firing loop owns it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

class HashRing {
 public:
  using Index = ExecutorCredits::Index;
  static constexpr int kPointsPerWeight = 160;
  // After so many points without a choice, the executors with room are few. One of them is then
  // chosen by its own hash and the place.
  static constexpr size_t kWalkMax = 2'048;

  // Takes over changes of executors. Cheap if there are none.
  void Follow(const ExecutorCredits& credits);
  // The executor for `place` among those in both sets, except `avoid`; nullopt if there is no
  // other.
  std::optional<Index> Pick(const ExecutorCredits& credits, uint64_t place, const IndexSet& open,
                            const IndexSet& able, Index avoid) const;

 private:
  using Point = std::pair<uint64_t, Index>;
  struct Member {
    Index index = 0;
    int weight = 1;
  };
  // By the upper bits of the points, each sorted, so that a change moves few of them.
  static constexpr size_t kBuckets = 4'096;
  static constexpr int kBucketShift = 52;

  void Change(const ExecutorId& id, const Member& member, bool add);
  std::optional<Index> ByOwnHash(const ExecutorCredits& credits, uint64_t place,
                                 const IndexSet& open, const IndexSet& able, Index avoid) const;

  std::optional<uint64_t> changes_;  // of the credits, as of the last Follow
  std::map<ExecutorId, Member> members_;
  std::vector<std::vector<Point>> buckets_ = std::vector<std::vector<Point>>(kBuckets);
};

}  // namespace carillon::scheduler
