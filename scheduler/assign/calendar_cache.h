// The calendars of the store, as this member last read them.
//
// Place    The planner reads them before each round (plan/); the firing loop uses what is known.
// Threads  Thread-safe; Read blocks on the store, outside the lock.
// Errors   Read: the store's error.
#pragma once

#include <memory>

#include "common/base/failpoint.h"
#include "common/base/mutex.h"
#include "common/ports/store/calendar_store.h"

namespace carillon::scheduler {

class CalendarCache {
 public:
  explicit CalendarCache(CalendarStore& store) : store_(store) {}

  // Returns the present calendars: one cheap query, unless they have changed.
  Result<std::shared_ptr<const CalendarSet>> Read() {
    const std::shared_ptr<const CalendarSet> known = Known();
    if (known != nullptr) {
      if (failpoint::Broken("calendar.no_version_read")) return known;
      CARILLON_ASSIGN_OR_RETURN(const int64_t version, store_.ReadCalendarVersion());
      if (version == known->version()) return known;
    }
    CARILLON_ASSIGN_OR_RETURN(CalendarSet read, store_.LoadCalendars());
    auto fresh = std::make_shared<const CalendarSet>(std::move(read));
    MutexLock lock(mu_);
    known_ = fresh;
    return fresh;
  }

  // Never reads the store; null before the first Read.
  std::shared_ptr<const CalendarSet> Known() const {
    MutexLock lock(mu_);
    return known_;
  }

  // Another history of the store may have other calendars under the same versions.
  void Forget() {
    MutexLock lock(mu_);
    known_ = nullptr;
  }

 private:
  CalendarStore& store_;
  mutable Mutex mu_;
  std::shared_ptr<const CalendarSet> known_
      GUARDED_BY(mu_);  // shared: readers keep it while in use
};

}  // namespace carillon::scheduler
