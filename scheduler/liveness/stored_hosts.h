// The executors as the store lists them, for those who ask whether one of them could take a run at
// all: a run that is bound to an executor does not wait for one that is down.
//
// Threads  Thread-safe; the registry publishes.
// Time     `now` and `until` are this member's steady clock. After `until` the list says nothing,
//          because the store may have been silent since.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/store/executor_store.h"

namespace carillon::scheduler {

class StoredHosts {
 public:
  void Publish(const std::vector<ExecutorRecord>& stored, SteadyTime until);
  // True if the executor is in the list, online, enabled and not draining, and has what is needed.
  // `handler` may be empty. nullopt: there is no list, or an old one.
  std::optional<bool> CanTake(const ExecutorId& id, Features needs, const std::string& handler,
                              SteadyTime now) const;

 private:
  // Those that take runs; the others are as if they were not in the list.
  using Abilities = std::map<ExecutorId, ExecutorAbilities>;

  mutable Mutex mu_;
  std::shared_ptr<const Abilities> takers_ GUARDED_BY(mu_);
  SteadyTime until_ GUARDED_BY(mu_){};
};

}  // namespace carillon::scheduler
