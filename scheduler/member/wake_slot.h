// Lets one room wake the loop of another, on a thread or in the simulator.
//
// Threads  Thread-safe. Call Set once. A Wake before Set is not lost.
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
  // Once this has returned, the function given to Set is not called any more.
  void Clear() {
    MutexLock lock(mu_);
    wake_ = nullptr;
  }
  void Wake() {
    MutexLock lock(mu_);
    woken_ = true;
    if (wake_) wake_();
  }

 private:
  Mutex mu_;
  bool woken_ GUARDED_BY(mu_) = false;
  std::function<void()> wake_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
