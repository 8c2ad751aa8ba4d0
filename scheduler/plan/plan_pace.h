// Decides how far ahead the planner plans, and how long it rests between two transactions. Pure.
//
// A schedule is due for planning when its next fire is within the lead. The lead is normally half
// the horizon. Sometimes more schedules are due for planning than one scan returns: many were just
// created, or planning is behind. The lead then shrinks to `near` after the earliest fire. So the
// near fires of all schedules are planned before the later fires of any of them.
//
// Afterwards the lead grows by half of the time that passes. A schedule is planned one and a half
// leads ahead on average. So while the lead grows, at most twice as many rows are written as fires
// become due. While due runs wait for executors, the lead grows only by an eighth of the time. The
// claims of these runs need the store more. Near fires are always planned.
//
//   horizon 30 s, near 2 s, 12,000 new schedules that fire every second: the lead is 2 s at first,
//   and 15 s after 26 s
//
// Place    Step 1 of docs/life-of-a-run.md; segment_planner.h reads the clock.
// Threads  Not thread-safe; the planner owns it.
#pragma once

#include <algorithm>

#include "scheduler/plan/plan_builder.h"

namespace carillon::scheduler {

class PlanPace {
 public:
  explicit PlanPace(Duration near) : near_(near) {}

  // Lets the lead grow. `passed` is the time since the last call. `busy`: due runs wait
  // for executors.
  void Grow(Duration passed, Duration horizon, bool busy) {
    const bool full = lead_ >= longest_;
    longest_ = horizon / 2;
    const Duration step = std::clamp(passed, Duration{}, kStepMax);
    lead_ = full ? longest_ : std::min(longest_, lead_ + step / (busy ? kBusyPart : kPart));
  }
  // Returns the times by which the schedules of a scan are planned. `first` is the time until the
  // earliest of their fires. `more`: the scan could not return all schedules that are due for
  // planning. The lead may then shrink.
  PlanTimes Times(WallTime now, Duration first, bool more) {
    first_ = std::max(Duration{}, first);
    const Duration near = std::min(near_, longest_);
    const bool behind = more && first_ + near < lead_;
    if (behind) lead_ = first_ + near;
    return {now, lead_, lead_ + (behind ? near : lead_)};
  }
  // True if fires are so near that the planner must not rest.
  bool urgent() const { return first_ < std::min(near_, longest_) / 2; }
  // Returns how long to rest after a transaction that took `took`. The rest is equally long if
  // planning is as far ahead as it should be, and shorter if planning is behind. It is zero if
  // planning is urgent.
  Duration Rest(Duration took) const {
    if (urgent() || longest_ <= Duration{}) return {};
    return Duration(took.count() * std::min(first_, longest_).count() / longest_.count());
  }
  Duration lead() const { return lead_; }

 private:
  static constexpr Duration kStepMax = 1s;  // a longer `passed` counts as this long
  static constexpr int kPart = 2;
  static constexpr int kBusyPart = 8;

  const Duration near_;
  Duration longest_{};
  Duration lead_{};
  Duration first_{};
};

}  // namespace carillon::scheduler
