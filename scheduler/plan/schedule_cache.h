// Cache of compiled schedules by (schedule, version, version of its calendars). Parsing an
// expression costs more than evaluating it.
//
// Threads  Not thread-safe; the planner owns it.
// Errors   Get: the error of Schedule::Compile. Failures are not cached. The planner sets
//          such schedules aside.
// Always   Holds at most `capacity` schedules. The oldest are evicted first.
#pragma once

#include <deque>
#include <map>
#include <tuple>

#include "common/ports/store/firing_store.h"

namespace carillon::scheduler {

class ScheduleCache {
 public:
  explicit ScheduleCache(size_t capacity) : capacity_(capacity) {}

  // `calendars` has the version by which the schedule is planned.
  Result<Schedule> Get(const DueSchedule& due, const CalendarSet& calendars) {
    const Key key{due.schedule_id, due.version, calendars.VersionOf(due.calendars)};
    const auto found = compiled_.find(key);
    if (found != compiled_.end()) return found->second;
    CARILLON_ASSIGN_OR_RETURN(ScheduleCalendars limits, calendars.Of(due.calendars));
    CARILLON_ASSIGN_OR_RETURN(
        Schedule schedule,
        Schedule::Compile(due.spec, due.dst_gap, due.dst_repeat, std::move(limits)));
    compiled_.emplace(key, schedule);
    order_.push_back(key);
    if (order_.size() > capacity_) {
      compiled_.erase(order_.front());
      order_.pop_front();
    }
    return schedule;
  }
  void Clear() {
    compiled_.clear();
    order_.clear();
  }
  size_t size() const { return compiled_.size(); }

 private:
  using Key = std::tuple<ScheduleId, int64_t, int64_t>;
  const size_t capacity_;
  std::map<Key, Schedule> compiled_;
  std::deque<Key> order_;
};

}  // namespace carillon::scheduler
