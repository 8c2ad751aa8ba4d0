// Actions scheduled for times of the simulation.
//
// Threads  Not thread-safe; the simulator's one thread.
// Always   Entries with the same time run in the order in which they were added.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "common/base/time.h"

namespace carillon::test {

class FaultTimers {
 public:
  void At(SteadyTime when, std::function<void()> action) {
    entries_.emplace(std::make_pair(when, ++last_), std::move(action));
  }
  std::optional<SteadyTime> next() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.begin()->first.first;
  }
  // Removes and returns the oldest due entry; an empty function if there is none.
  std::function<void()> TakeDue(SteadyTime now) {
    if (entries_.empty() || entries_.begin()->first.first > now) return {};
    std::function<void()> action = std::move(entries_.begin()->second);
    entries_.erase(entries_.begin());
    return action;
  }
  size_t size() const { return entries_.size(); }

 private:
  std::map<std::pair<SteadyTime, uint64_t>, std::function<void()>> entries_;
  uint64_t last_ = 0;
};

}  // namespace carillon::test
