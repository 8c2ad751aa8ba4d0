// The runs in the firing loop's memory, each with its place, from the feed to the end
// of the attempt.
//
// Threads  Not thread-safe; the firing loop owns it.
// Always   At most `capacity` runs. Each change of place gives the run a new stamp. So the entries
//          about earlier places in heaps and queues are recognised as stale.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

#include "scheduler/definitions/definition_cache.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

enum class Place {
  kWheel,      // not due yet
  kLoading,    // waits for its parameters
  kUndefined,  // waits for its definition
  kReady,      // due, waits for a credit
  kInFlight,   // published, not claimed
  kClaimed,    // claimed by an executor
  // Finished. Kept for a moment, because a scan begun earlier may return the run as PENDING.
  kSettled,
};
inline constexpr size_t kPlaces = 7;

struct TrackedRun {
  PendingRun run;
  Place place = Place::kSettled;
  uint32_t stamp = 0;
  SteadyTime since{};                                        // when the run came to this place
  ExecutorCredits::Index executor = ExecutorCredits::kNone;  // set in kInFlight and kClaimed
  ExecutorCredits::Index avoid = ExecutorCredits::kNone;     // the last to time out or return it
  Charge charge;                                             // how `executor` is charged for it
  int probes = 0;  // executors that claimed nothing did not claim it either, so many times
  WallTime behind = WallTime::min();    // it ranks no earlier than a run due at this time
  std::optional<WallTime> as_due = {};  // of a part: it ranks as if it was due then
  bool gone = false;  // the store does not have it as PENDING, unless it is claimed
  SlotClass slots = SlotClass::kProcess;  // valid once `definition` is set
  std::shared_ptr<const Definition> definition = {};
};

class RunTable {
 public:
  explicit RunTable(size_t capacity) : capacity_(capacity) {}

  // nullptr when unknown. The pointer is valid until the run is erased.
  TrackedRun* Find(const RunKey& key) {
    const auto found = runs_.find(key);
    return found == runs_.end() ? nullptr : &found->second;
  }
  // Returns nullptr also if the run has another stamp by now.
  TrackedRun* Find(const RunKey& key, uint32_t stamp) {
    TrackedRun* found = Find(key);
    return found != nullptr && found->stamp == stamp ? found : nullptr;
  }
  // Returns nullptr if the table is full. The run must not be in the table yet.
  TrackedRun* Add(PendingRun run) {
    if (runs_.size() >= capacity_) return nullptr;
    const RunKey key = run.key;
    ++counts_[static_cast<size_t>(Place::kSettled)];
    return &runs_.emplace(key, TrackedRun{.run = std::move(run)}).first->second;
  }
  // Returns the run's new stamp.
  uint32_t Move(TrackedRun& tracked, Place place, SteadyTime now) {
    --counts_[static_cast<size_t>(tracked.place)];
    ++counts_[static_cast<size_t>(place)];
    tracked.place = place;
    tracked.since = now;
    tracked.stamp = ++last_stamp_;
    return tracked.stamp;
  }
  void Erase(const RunKey& key) {
    const auto found = runs_.find(key);
    if (found == runs_.end()) return;
    --counts_[static_cast<size_t>(found->second.place)];
    runs_.erase(found);
  }
  std::vector<RunKey> Keys() const {
    std::vector<RunKey> keys;
    keys.reserve(runs_.size());
    for (const auto& [key, tracked] : runs_) keys.push_back(key);
    return keys;
  }
  size_t count(Place place) const { return counts_[static_cast<size_t>(place)]; }
  size_t size() const { return runs_.size(); }

 private:
  const size_t capacity_;
  uint32_t last_stamp_ = 0;
  std::array<size_t, kPlaces> counts_{};
  std::unordered_map<RunKey, TrackedRun> runs_;
};

}  // namespace carillon::scheduler
