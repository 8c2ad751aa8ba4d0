// The current live settings of the cluster, and the listeners to notify of a change.
//
// Place    A member gets the settings from the store and the coordinator (scheduler/settings). An
//          executor gets them over the control link. docs/adr/0010-live-settings.md
//          gives the reasons.
// Threads  Thread-safe. Listeners run on the thread that calls Adopt, one change at a time. They
//          must not block and must not call this object.
// Always   The version only increases: a late or repeated change has no effect.
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

  // Calls `listener` with each newer version. If there is a version already, also calls it now.
  void OnChange(Listener listener) {
    MutexLock lock(mu_);
    if (current_.version > 0) listener(current_);
    listeners_.push_back(std::move(listener));
  }

  // If the version of `settings` is newer, makes them current and notifies the listeners.
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
  // True while the whole cluster is paused and no attempt may start. Only one atomic read, because
  // the firing path calls it often.
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
