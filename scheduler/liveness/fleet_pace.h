// Intervals of heartbeats by the size of the fleet: a message costs the member the same whatever it
// says, so many executors that hold nothing speak less often. Pure.
#pragma once

#include <algorithm>

#include "common/base/time.h"

namespace carillon::scheduler {

// Longer would let an idle host that has lost its power count as alive for more than 34 s.
inline constexpr Duration kQuietMax = 15s;
// A part of a core: 700 heartbeats in a second are 0.1 of one.
inline constexpr Duration kQuietEach = 1428us;

// The interval for executors that hold nothing, in whole seconds unless it is `heartbeat`: `each`
// for each executor of the fleet, at least `heartbeat`.
constexpr Duration QuietHeartbeat(size_t executors, Duration heartbeat, Duration each) {
  const Duration wanted = each * static_cast<int64_t>(executors);
  const Duration whole = (wanted + 1s - 1us) / 1s * 1s;
  return wanted <= heartbeat ? heartbeat
                             : std::clamp(whole, heartbeat, std::max(heartbeat, kQuietMax));
}

// Decides when a changed interval is told to executors that were told another one. Each of them
// answers with a heartbeat, so this happens seldom, and not to all at once.
class PaceTelling {
 public:
  static constexpr Duration kWorthTelling = 2s;
  static constexpr Duration kEvery = 30s;
  static constexpr Duration kSpread = 10s;

  explicit PaceTelling(Duration told) : told_(told) {}

  // True if all are to be told `quiet`, within kSpread.
  bool Begins(Duration quiet, SteadyTime now) {
    const Duration moved = quiet > told_ ? quiet - told_ : told_ - quiet;
    if (moved < kWorthTelling || now < next_) return false;
    told_ = quiet;
    begun_ = now;
    next_ = now + kEvery;
    return true;
  }
  // How many of `all` executors must have been told by now.
  size_t Due(size_t all, SteadyTime now) const {
    const Duration passed = std::clamp<Duration>(now - begun_, Duration{}, kSpread);
    return all * static_cast<size_t>(passed.count()) / static_cast<size_t>(kSpread / 1us);
  }

 private:
  Duration told_;
  SteadyTime begun_{};
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
