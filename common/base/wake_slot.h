// Lets one room wake the loop of another, be it a thread or a turn of the simulator.
//
// Threads  Thread-safe. Set is called once, before or after the first Wake.
#pragma once

#include <functional>
#include <utility>

#include "common/base/mutex.h"

namespace carillon::scheduler {

class WakeSlot {
 public:
  // `wake` must be cheap and must not call back into the room.
  void Set(std::function<void()> wake) {
    MutexLock lock(mu_);
    wake_ = std::move(wake);
    if (woken_ && wake_) wake_();
  }
  // No further call reaches the function given to Set once this has returned.
  void Clear() {
    MutexLock lock(mu_);
    wake_ = nullptr;
  }
  void Wake() {
    MutexLock lock(mu_);
    woken_ = true;
    if (wake_) wake_();
  }
  // For a loop without a thread: was it woken since the last call?
  bool TakeWoken() {
    MutexLock lock(mu_);
    return std::exchange(woken_, false);
  }

 private:
  Mutex mu_;
  bool woken_ GUARDED_BY(mu_) = false;
  std::function<void()> wake_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
