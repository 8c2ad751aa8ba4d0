// The settings that the whole cluster was given while it runs, and whom a change concerns.
//
// Place    A member learns them from the store and the coordinator (scheduler/settings), an
//          executor over the control link; docs/adr/0010-live-settings.md says why.
// Threads  Thread-safe. A listener is called by whoever brought the change, one change at a time;
//          it must not wait for anything, and must not ask this object.
// Always   The version only rises: what comes late, or once more, changes nothing.
#pragma once

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/base/mutex.h"

namespace carillon {

class LiveSettings {
 public:
  using Listener = std::function<void(const ClusterSettings&)>;

  // Called with each newer version, and now when there is one already.
  void OnChange(Listener listener) {
    MutexLock lock(mu_);
    if (current_.version > 0) listener(current_);
    listeners_.push_back(std::move(listener));
  }

  void Adopt(const ClusterSettings& settings) {
    if (settings.version <= version()) return;
    MutexLock lock(mu_);
    if (settings.version <= current_.version) return;
    current_ = settings;
    paused_.store(PauseOf(settings).has_value(), std::memory_order_release);
    version_.store(settings.version, std::memory_order_release);
    for (const Listener& listener : listeners_) listener(current_);
  }

  int64_t version() const { return version_.load(std::memory_order_acquire); }
  // The whole cluster is paused: no attempt may start. One read, for the firing path.
  bool paused() const { return paused_.load(std::memory_order_acquire); }
  ClusterSettings Current() const {
    MutexLock lock(mu_);
    return current_;
  }

 private:
  std::atomic<int64_t> version_ = 0;
  std::atomic<bool> paused_ = false;
  mutable Mutex mu_;
  std::vector<Listener> listeners_ GUARDED_BY(mu_);
  ClusterSettings current_ GUARDED_BY(mu_);
};

}  // namespace carillon
