// Tasks that wait for a slot of this executor, ordered by priority and by time waited.
//
// Place    Between steps 6 and 7 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the core loop owns it.
// Time     Never reads a clock.
// Errors   Push: kExhausted at `capacity` or `bytes_max`; the owner of the task publishes it again.
// Always   Ordered by (arrival − priority × kWaitPerPriority): a task of priority 0 that has waited
//          more than 0.9 s goes before a task of priority 9 that just arrived.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::executor {

inline constexpr Duration kWaitPerPriority = 100ms;

template <typename Id>
class LocalQueue {
 public:
  struct Limits {
    size_t capacity = 0;   // tasks
    size_t bytes_max = 0;  // bytes of all tasks
  };
  explicit LocalQueue(const Limits& limits) : limits_(limits) {}

  // The properties of a waiting task; `bytes` is its approximate memory.
  struct Waiting {
    int priority = 0;
    SteadyTime arrived;
    SteadyTime expires;
    size_t bytes = 0;
  };
  Status Push(const Id& id, const Waiting& waiting) {
    if (order_.size() >= limits_.capacity || waiting.bytes > bytes_room()) {
      return {ErrorCode::kExhausted, "the executor's queue is full"};
    }
    const SteadyTime rank = waiting.arrived - waiting.priority * kWaitPerPriority;
    order_.insert({rank, id});
    expiry_.insert({waiting.expires, id});
    places_[id] = {rank, waiting.expires, waiting.bytes};
    bytes_ += waiting.bytes;
    return {};
  }
  std::optional<Id> Pop() {
    if (order_.empty()) return std::nullopt;
    const Id id = order_.begin()->second;
    Remove(id);
    return id;
  }
  // The first task for which `may` is true.
  template <typename May>
  std::optional<Id> PopIf(const May& may) {
    for (const auto& [rank, id] : order_) {
      if (!may(id)) continue;
      const Id found = id;
      Remove(found);
      return found;
    }
    return std::nullopt;
  }
  // Removes and returns the tasks that waited too long.
  std::vector<Id> PopExpired(SteadyTime now) {
    std::vector<Id> expired;
    while (!expiry_.empty() && expiry_.begin()->first <= now) {
      expired.push_back(expiry_.begin()->second);
      Remove(expired.back());
    }
    return expired;
  }
  void Remove(const Id& id) {
    const auto place = places_.find(id);
    if (place == places_.end()) return;
    order_.erase({place->second.rank, id});
    expiry_.erase({place->second.expires, id});
    bytes_ -= place->second.bytes;
    places_.erase(place);
  }
  SteadyTime NextExpiry() const {
    return expiry_.empty() ? SteadyTime::max() : expiry_.begin()->first;
  }
  size_t size() const { return order_.size(); }
  size_t capacity() const { return limits_.capacity; }
  size_t bytes_room() const { return limits_.bytes_max - bytes_; }

 private:
  struct Place {
    SteadyTime rank;
    SteadyTime expires;
    size_t bytes = 0;
  };
  const Limits limits_;
  size_t bytes_ = 0;
  std::set<std::pair<SteadyTime, Id>> order_;
  std::set<std::pair<SteadyTime, Id>> expiry_;
  std::map<Id, Place> places_;
};

}  // namespace carillon::executor
