// The triggers of events, as of one number of id_blocks['event_trigger'].
//
// Place    events/trigger_rows.h compares the number with that of the store before each use.
// Threads  Thread-safe. One caller at a time reads triggers anew; the others wait for its answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/domain/event/event_trigger.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

struct StoredTriggers {
  uint64_t number = 0;
  std::map<std::string, std::shared_ptr<const TriggerSet>> by_namespace = {};
  // By version of a job, so that the versions of jobs that were not edited are not read again.
  std::map<JobVersionKey, std::vector<EventTrigger>> by_version = {};
};
// Shared: a call that matches events keeps them while others read new ones.
using SharedTriggers = std::shared_ptr<const StoredTriggers>;

class TriggerCache {
 public:
  // Null before the first read.
  SharedTriggers Get() const {
    MutexLock lock(mu_);
    return triggers_;
  }
  // Keeps what `read` makes of the present triggers.
  template <typename Read>
  Result<SharedTriggers> Renew(Read read) {
    MutexLock alone(reading_);
    const auto [present, forgotten] = Look();
    CARILLON_ASSIGN_OR_RETURN(SharedTriggers renewed, read(present));
    MutexLock lock(mu_);
    if (forgotten == forgotten_) triggers_ = renewed;
    return renewed;
  }
  // Another store may have the same number.
  void Forget() {
    MutexLock lock(mu_);
    triggers_ = nullptr;
    ++forgotten_;
  }

 private:
  std::pair<SharedTriggers, uint64_t> Look() const {
    MutexLock lock(mu_);
    return {triggers_, forgotten_};
  }

  Mutex reading_;  // locked before mu_
  mutable Mutex mu_;
  SharedTriggers triggers_ GUARDED_BY(mu_);
  uint64_t forgotten_ GUARDED_BY(mu_) = 0;
};

}  // namespace carillon::mysql
