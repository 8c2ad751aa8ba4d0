// Spreads the starts of a schedule's runs: a run becomes due at its fire plus a part of the jitter.
//
// The part is a hash of the schedule and the fire, so every planner that computes it gets the same
// due time, also after a restart. It is less than the jitter, and less than the time to the next
// fire; so runs of one schedule become due in the order of their fires. The fire itself does not
// move: it remains the run's key and its nominal time.
#pragma once

#include <optional>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/schedule/schedule.h"

namespace carillon {

// A time in [0, room), the same for the same arguments on every host and in every version. Zero if
// `room` is not positive.
Duration SpreadOf(ScheduleId id, WallTime fire, Duration room);

// The due times of the fires of one schedule. `schedule` must outlive it.
class DueTimes {
 public:
  // For a caller that takes every fire as due at once.
  DueTimes() = default;
  DueTimes(const Schedule& schedule, ScheduleId id) : schedule_(&schedule), id_(id) {}

  // The time at which the run of `fire` becomes due: fire <= result < the next fire.
  WallTime Of(WallTime fire) const;

  // The instant that divides the fires by their due times: exactly the fires before the result are
  // due before `due`. At most `due`.
  WallTime FiresDueBefore(WallTime due) const;

 private:
  Duration jitter() const { return schedule_ == nullptr ? Duration{} : schedule_->jitter(); }

  const Schedule* schedule_ = nullptr;
  ScheduleId id_{};
};

}  // namespace carillon
