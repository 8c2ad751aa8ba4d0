// First-in first-out queue with a named limit, between the loops of a daemon.
//
// Threads  Thread-safe, any number on either end. Never blocks.
// Errors   Push: kExhausted when full; the caller leaves the item where it came from.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"

namespace carillon {

template <typename T>
class BoundedQueue {
 public:
  BoundedQueue(std::string name, size_t capacity) : name_(std::move(name)), capacity_(capacity) {}

  // Called after each push, outside the lock: wakes the consumer's loop. Set before first use.
  void OnPush(std::function<void()> wake) { wake_ = std::move(wake); }

  Status Push(T item) {
    {
      MutexLock lock(mu_);
      if (items_.size() >= capacity_) {
        return {ErrorCode::kExhausted, "queue " + name_ + " is full"};
      }
      items_.push_back(std::move(item));
    }
    if (wake_) wake_();
    return {};
  }

  // Takes up to `max` items, oldest first.
  std::vector<T> PopUpTo(size_t max) {
    std::vector<T> taken;
    MutexLock lock(mu_);
    const size_t count = std::min(max, items_.size());
    taken.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      taken.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    return taken;
  }

  size_t size() const {
    MutexLock lock(mu_);
    return items_.size();
  }
  size_t capacity() const { return capacity_; }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  const size_t capacity_;
  std::function<void()> wake_;
  mutable Mutex mu_;
  std::deque<T> items_ GUARDED_BY(mu_);
};

}  // namespace carillon
