#include "scheduler/events/open_runs.h"

namespace carillon::scheduler {

bool OpenEventRuns::TooMany() {
  if (TakeTurn()) {
    const auto open = store_.CountOpenEventRuns(kOpenEventRunsMax + 1);
    MutexLock lock(mu_);
    if (open.ok()) {
      too_many_ = *open > kOpenEventRunsMax;
    } else {
      started_ = true;
    }
  }
  MutexLock lock(mu_);
  return too_many_;
}

void OpenEventRuns::NoteStarted() {
  MutexLock lock(mu_);
  started_ = true;
}

bool OpenEventRuns::TakeTurn() {
  MutexLock lock(mu_);
  const SteadyTime now = clock_.Steady();
  if (!started_ && !too_many_) return false;
  if (counted_ && now - *counted_ < kCountEvery) return false;
  counted_ = now;
  started_ = false;
  return true;
}

}  // namespace carillon::scheduler
