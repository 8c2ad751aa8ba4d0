// Cache of the definitions that runs execute, in the form that the firing path needs: job
// definitions by version, and beside them those that differ from their version for some runs
// (run_definition.h).
//
// Place    Step 4 of docs/life-of-a-run.md. The planner and the sweep load definitions ahead of
//          time, so that the firing loop seldom has to wait for the store.
// Threads  Thread-safe; Load blocks on the store, outside the lock.
// Errors   Load: the store's error. A version that does not exist is absent from the
//          result. A version that cannot be decoded is listed as unreadable. It is read
//          again only after kUnreadableRetry. Unreadable, too: what a run has of its own.
// Always   Holds at most `entries_max` definitions of about `bytes_max` bytes in all. The least
//          recently used definitions are evicted first. A run that differs from its version never
//          gets the definition of the version.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/domain/job/job_types.h"
#include "common/domain/nodes/run_definition.h"
#include "common/domain/nodes/run_rules.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/assign/calendar_cache.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

// Runs with equal keys execute the same definition.
struct RunDefinitionKey {
  JobVersionKey job;
  std::optional<size_t> position = {};  // of its node, if the job is a row of tasks (task_jobs.h)
  std::string rules = {};               // RunRow::rules

  auto operator<=>(const RunDefinitionKey&) const = default;
};
RunDefinitionKey DefinitionKeyOf(const JobVersionKey& job, const RunKey& run, std::string rules);
// With run_flag::kRules, but without rules: a key whose definition is unreadable.
RunDefinitionKey DefinitionKeyOf(const PendingRun& run);
RunDefinitionKey DefinitionKeyOf(const RunRow& run);

class Definition {
 public:
  // `calendars` must outlive it; null: its schedules fire at all times. `own`: the rules of its
  // runs, which are in the record's definition already.
  explicit Definition(JobVersionRecord record, const CalendarCache* calendars = nullptr,
                      const RunRules& own = {});

  const JobVersionRecord& record() const { return record_; }
  const JobDefinition& job() const { return record_.definition; }
  SlotClass slots() const {
    return StartsProcess(job().type) ? SlotClass::kProcess : SlotClass::kLight;
  }
  // nullptr = any executor.
  const Selector* selector() const {
    return job().executor_selector.empty() ? nullptr : &selector_;
  }
  // The features that an executor must have, for any run of the job and for this one. The job of a
  // part may have lost its shards since.
  Features needs() const { return needs_; }
  Features NeedsOf(const RunKey& run) const {
    return run.shard > 0 ? needs_.With({Feature::kShards}) : needs_;
  }
  // Of a mapped node (mapped_items.h): the number of items, and the parameter of a part's item.
  std::optional<int64_t> items() const { return items_; }
  const std::string& item_parameter() const { return item_parameter_; }
  // The secrets that the job's runs use; see SecretsOf (template.h).
  const std::map<std::string, std::string>& secrets() const { return secrets_; }
  // The schedule that made the run, as it is in this definition. nullptr if there is none: the run
  // is manual, or an edit removed its schedule.
  const ScheduleSpec* SpecOf(ScheduleId id) const;
  // Thread-safe. Returns the schedule that made the run, by the calendars that this member knows;
  // if an edit removed it, one that fires at the same instant. nullopt if there is none.
  std::optional<Schedule> ScheduleOf(const RunKey& key) const;

 private:
  std::optional<size_t> IndexOf(ScheduleId id) const;

  const JobVersionRecord record_;
  const Selector selector_;
  const Features needs_;
  const std::map<std::string, std::string> secrets_;
  const std::optional<int64_t> items_;
  const std::string item_parameter_;
  const CalendarCache* const calendars_;
  mutable Mutex mu_;
  mutable std::shared_ptr<const CalendarSet> compiled_with_ GUARDED_BY(mu_);
  // Parallel to job().schedules once they are compiled.
  mutable std::vector<std::optional<Schedule>> schedules_ GUARDED_BY(mu_);
};

inline constexpr Duration kUnreadableRetry = 10s;
inline constexpr size_t kUnreadableMax = 10'000;

class DefinitionCache {
 public:
  struct Limits {
    size_t entries_max = 50'000;
    size_t bytes_max = size_t{64} << 20;
  };
  DefinitionCache(const Clock& clock, FiringStore& store, Limits limits,
                  const CalendarCache* calendars = nullptr)
      : clock_(clock), store_(store), limits_(limits), calendars_(calendars) {}

  // Returns nullptr if the definition is not cached. Never reads the store. The pointer is
  // shared: the firing loop keeps the definition while it follows the run, and the cache may
  // evict it meanwhile.
  std::shared_ptr<const Definition> Get(const RunDefinitionKey& key);
  struct Found {
    std::map<RunDefinitionKey, std::shared_ptr<const Definition>> definitions;
    std::set<RunDefinitionKey> unreadable;
  };
  // Returns the definitions of those `keys` that exist. Reads from the store those that
  // are not cached.
  Result<Found> Load(const std::vector<RunDefinitionKey>& keys);
  // Empties the cache: another history of the store may have other definitions under the same keys.
  void Forget();
  size_t size() const;

 private:
  struct Entry {
    RunDefinitionKey key;
    std::shared_ptr<const Definition> definition;
    size_t bytes = 0;
  };
  // A version, under the key of runs that do not differ from it, if there can be such runs.
  std::shared_ptr<const Definition> Cached(const RunDefinitionKey& key);
  void Put(const RunDefinitionKey& key, std::shared_ptr<const Definition> definition);
  // The definition of runs with this key, by that of their version, which it caches. kCorrupt: they
  // cannot be resolved.
  Result<std::shared_ptr<const Definition>> Resolve(const RunDefinitionKey& key,
                                                    const Definition& of_version);
  // Adds the definitions of these keys, whose version this is, to `found`.
  void Add(const std::vector<RunDefinitionKey>& keys,
           const std::shared_ptr<const Definition>& of_version, Found* found);
  // The versions that must be read from the store, with the keys that need them.
  using Missing = std::map<JobVersionKey, std::vector<RunDefinitionKey>>;
  // Adds to `found` what is cached, and what is known to be unreadable.
  Missing MissingOf(const std::vector<RunDefinitionKey>& keys, Found* found);
  Status Read(const std::vector<JobVersionKey>& versions, const Missing& missing, Found* found);
  void Remember(const std::vector<JobVersionKey>& unreadable);

  const Clock& clock_;
  FiringStore& store_;
  const Limits limits_;
  const CalendarCache* const calendars_;
  mutable Mutex mu_;
  std::list<Entry> by_use_ GUARDED_BY(mu_);  // most recent first
  std::map<RunDefinitionKey, std::list<Entry>::iterator> entries_ GUARDED_BY(mu_);
  size_t bytes_ GUARDED_BY(mu_) = 0;
  std::map<JobVersionKey, SteadyTime> unreadable_until_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
