// The limit of runs that events have started and that still wait. Above it, no event is accepted.
//
// Threads  Thread-safe. One caller at a time counts; the others get the previous answer.
// Time     The answer is up to kCountEvery old, and other members start runs, too: the limit may be
//          exceeded by what all members start in that time.
// Errors   If the runs cannot be counted, the previous answer stays.
#pragma once

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/events/event_store.h"

namespace carillon::scheduler {

class OpenEventRuns {
 public:
  static constexpr Duration kCountEvery = 5s;

  OpenEventRuns(EventStore& store, const Clock& clock) : store_(store), clock_(clock) {}
  OpenEventRuns(const OpenEventRuns&) = delete;
  OpenEventRuns& operator=(const OpenEventRuns&) = delete;

  // Blocks for one statement of the store at most, and not at all while nothing has started since
  // the last count.
  bool TooMany();
  // Call it after events have started runs.
  void NoteStarted();

 private:
  // True if the caller has to count.
  bool TakeTurn();

  EventStore& store_;
  const Clock& clock_;
  Mutex mu_;
  bool started_ GUARDED_BY(mu_) = true;  // perhaps others have, before this process began
  bool too_many_ GUARDED_BY(mu_) = false;
  std::optional<SteadyTime> counted_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
