// First-in first-out queue with a named limit, between the loops of a daemon.
//
// Threads  Thread-safe, with any number of producers and consumers. Never blocks.
// Errors   Push: kExhausted if full. The item is dropped; the caller must be able to get it again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
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

  // Sets the function that wakes the consumer's loop; call it once. `wake` is called outside the
  // lock: by the first push after each PopUpTo, and by the push that fills a batch of `batch`
  // items. No other push calls `wake`. After a call of `wake`, or after a pop that left items in
  // the queue, the consumer must pop again before it waits without a timeout.
  void OnPush(std::function<void()> wake, size_t batch = SIZE_MAX) {
    MutexLock lock(mu_);
    wake_ = std::move(wake);
    batch_ = batch;
  }

  Status Push(T item) {
    bool rings = false;
    {
      MutexLock lock(mu_);
      if (items_.size() >= capacity_) {
        return {ErrorCode::kExhausted, "queue " + name_ + " is full"};
      }
      items_.push_back(std::move(item));
      rings = Rings(1);
    }
    if (rings) wake_();
    return {};
  }
  // Moves as many items as fit into the queue, oldest first; the others stay in `items`.
  void PushFrom(std::vector<T>& items) {
    if (items.empty()) return;
    bool rings = false;
    {
      MutexLock lock(mu_);
      const size_t count = std::min(capacity_ - items_.size(), items.size());
      const auto end = items.begin() + static_cast<std::ptrdiff_t>(count);
      items_.insert(items_.end(), std::make_move_iterator(items.begin()),
                    std::make_move_iterator(end));
      items.erase(items.begin(), end);
      rings = count > 0 && Rings(count);
    }
    if (rings) wake_();
  }

  // Removes and returns up to `max` items, oldest first.
  std::vector<T> PopUpTo(size_t max) {
    std::vector<T> taken;
    MutexLock lock(mu_);
    rung_ = false;
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
  // Returns true if the push of `added` items, which are already in the queue, must wake the
  // consumer. A consumer that was woken since its last pop will pop these items too. Only a full
  // batch wakes such a consumer again.
  bool Rings(size_t added) REQUIRES(mu_) {
    if (!wake_) return false;
    const bool filled_batch = items_.size() >= batch_ && items_.size() - added < batch_;
    return !std::exchange(rung_, true) || filled_batch;
  }

  const std::string name_;
  const size_t capacity_;
  std::function<void()> wake_;  // written once, under mu_
  mutable Mutex mu_;
  size_t batch_ GUARDED_BY(mu_) = SIZE_MAX;
  bool rung_ GUARDED_BY(mu_) = false;  // the consumer was woken since its last pop
  std::deque<T> items_ GUARDED_BY(mu_);
};

}  // namespace carillon
