// The executors as the store lists them, for those who ask how long one of them could not have
// taken a run: a run that is bound to an executor does not wait for one that is down for long.
//
// Threads  Thread-safe; one thread publishes, the registry's.
// Time     `now` and `until` are this member's steady clock. What this member has not seen does not
//          count: an executor that is down in the first list is down from then on. In the first
//          20 s there is no answer, because the list may tell of the time before, when no member
//          wrote to it. After `until` the list says nothing, because the store may have been silent
//          since; the next one is a first list again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/domain/selector.h"
#include "common/ports/store/executor_store.h"

namespace carillon::scheduler {

class StoredHosts {
 public:
  static constexpr Duration kSettles = 20s;
  static constexpr Duration kKept = 8 * 24h;  // of what is not listed; a run waits a week at most

  // `now` is before the list was read.
  void Publish(const std::vector<ExecutorRecord>& stored, SteadyTime now, SteadyTime until);
  // For how long the executor has not been in the list as one that is online, enabled, not draining
  // and has what is needed. `handler` may be empty. nullopt: it can take the run, or nobody knows
  // whether it can.
  std::optional<Duration> UnableFor(const ExecutorId& id, Features needs,
                                    const std::string& handler, SteadyTime now);
  // True if the executor does not match, by a list that was read after `since`. False: it does, or
  // nobody knows: an older list may lack labels that were set before the job asked for them.
  bool Excludes(const Selector& selector, const ExecutorId& id, SteadyTime since, SteadyTime now);

 private:
  struct Host {
    bool takes = false;  // runs, of whatever kind
    SteadyTime takes_since{};
    Features features = {};
    SteadyTime features_since{};
    std::set<std::string> handlers = {};
    std::map<std::string, std::string> labels = {};
    SteadyTime first{};                           // list with it
    std::map<std::string, SteadyTime> gone = {};  // handlers that it had
  };
  // Constant once it is published, so that nobody waits while thousands are compared.
  struct List {
    std::map<ExecutorId, std::shared_ptr<const Host>> hosts;
    SteadyTime begun{};  // of the first list
    SteadyTime published{};
    SteadyTime until{};
  };
  // The host after `record`; the same one if that says nothing new. `host` may be null.
  static std::shared_ptr<const Host> Follow(const std::shared_ptr<const Host>& host,
                                            const ExecutorRecord& record, SteadyTime now);
  std::shared_ptr<const List> Current();

  Mutex mu_;
  std::shared_ptr<const List> list_ GUARDED_BY(mu_);  // null: there was none
  // Since when those are asked for that are not in the list.
  std::map<ExecutorId, SteadyTime> missed_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
