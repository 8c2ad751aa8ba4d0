// Decides how far ahead the planner plans, and how long it rests between two transactions. Pure.
//
// Schedules come up for planning when their next fire is within the lead, which is half the horizon
// when all is well. When more of them come up than one scan shows (many were just created, or
// planning is behind) the lead falls back to the nearest seconds: everybody's next fires come
// before anybody's next half minute. Then it grows by half of the time that passes. Plans reach one
// and a half leads on average, so that at most twice the rows are planned that are needed. While
// due runs wait it grows by an eighth, because their claims need the store more. What is near is
// planned whatever waits.
//
//   horizon 30 s, near 2 s, 12,000 new schedules of 1 s: lead 2 s at once, 15 s after 26 s
//
// Place    Step 1 of docs/life-of-a-run.md; segment_planner.h keeps the clock.
// Threads  Not thread-safe; the planner owns it.
#pragma once

#include <algorithm>

#include "scheduler/plan/plan_builder.h"

namespace carillon::scheduler {

class PlanPace {
 public:
  explicit PlanPace(Duration near) : near_(near) {}

  // `passed` since the last call. `busy`: due runs wait.
  void Grow(Duration passed, Duration horizon, bool busy) {
    const bool full = lead_ >= longest_;
    longest_ = horizon / 2;
    const Duration step = std::clamp(passed, Duration{}, kStepMax);
    lead_ = full ? longest_ : std::min(longest_, lead_ + step / (busy ? kBusyPart : kPart));
  }
  // For schedules that a scan has found, the first of them with a fire `first` ahead; `more` than
  // these are within the lead.
  PlanTimes Times(WallTime now, Duration first, bool more) {
    first_ = std::max(Duration{}, first);
    const Duration near = std::min(near_, longest_);
    const bool behind = more && first_ + near < lead_;
    if (behind) lead_ = first_ + near;
    return {now, lead_, lead_ + (behind ? near : lead_)};
  }
  // Fires are so near that there is no time for a rest.
  bool urgent() const { return first_ < std::min(near_, longest_) / 2; }
  // After a transaction of `took`: as long when planning is as far as it should be, shorter when it
  // is behind.
  Duration Rest(Duration took) const {
    if (urgent() || longest_ <= Duration{}) return {};
    return Duration(took.count() * std::min(first_, longest_).count() / longest_.count());
  }
  Duration lead() const { return lead_; }

 private:
  static constexpr Duration kStepMax = 1s;  // nothing was planned in a longer time
  static constexpr int kPart = 2;
  static constexpr int kBusyPart = 8;

  const Duration near_;
  Duration longest_{};
  Duration lead_{};
  Duration first_{};
};

}  // namespace carillon::scheduler
