// Decides how long a loop collects work before its next batch. Pure.
//
// A batch costs messages, a signature or a transaction, whatever is in it. A member collects for
// its base interval. If the segments are shared by several members, each has only a part of the
// load, so its batches would be smaller, and the cluster would pay for more of them. Under load,
// each of N members therefore collects for N base intervals, so that the cluster has as many
// batches as with one member. Under less load a batch has few items anyway, and a longer interval
// would only make them later.
//
//   base 5 ms, 3 members, each with 1,300 items a second: the interval is 15 ms, with 20 items
//
// Threads  Not thread-safe; the loop that makes the batches owns it.
#pragma once

#include <algorithm>

#include "common/base/clock.h"

namespace carillon::scheduler {

class BatchPace {
 public:
  explicit BatchPace(Duration base) : base_(base) {}

  // Call it when a batch of `items` begins. `members` share the segments, this one included.
  void Began(SteadyTime now, size_t items, int members) {
    const std::chrono::duration<double> passed = std::max(base_, now - began_);
    const double rate = static_cast<double>(items) * members / passed.count();
    interval_ = rate >= kBusyRate ? base_ * std::clamp(members, 1, kLongest) : base_;
    began_ = now;
  }
  // Before this time no further batch begins, unless it is full.
  SteadyTime next() const { return began_ + interval_; }
  // The same for items that must not wait for those of other members.
  SteadyTime soonest() const { return began_ + base_; }

 private:
  static constexpr double kBusyRate = 500;  // items a second, of all members
  static constexpr int kLongest = 4;        // base intervals; an item may wait so long

  const Duration base_;
  Duration interval_ = base_;
  SteadyTime began_{};
};

}  // namespace carillon::scheduler
