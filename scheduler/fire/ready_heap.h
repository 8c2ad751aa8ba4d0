// Due runs in the order in which they get a credit: by priority with ageing, then by due time.
//
// One point of priority is worth `ageing` of waiting time. So the rank of a run never changes, and
// the heap never has to be reordered. The smallest rank is first:
//   rank = due − priority × ageing (+ 1 day for a background run), but at least `not_before`
// A part of a fire ranks as its fire did, if that is known: `as_due`.
// Example with ageing = 1 s: run A has priority 0 and is due at 10:00:00. Run B has priority 30.
// - If B is due at 10:00:20, its rank is 09:59:50, and it goes before A.
// - If B is due at 10:00:31, its rank is 10:00:01, and it goes after A.
// The highest priority is 100. So with this ageing, no run waits for another run that became due
// more than 100 s after it. Background runs, which backfills create, are the exception: their rank
// is a day later, so every other run that is due goes before them, and they get what is left. A
// background run that has waited for a day goes on a par with the others.
//
// Threads  Not thread-safe; the firing loop owns it.
// Always   The entry of a run that left the lane remains in the heap. Its outdated `stamp` marks
//          the entry as stale. Stale entries are popped when they reach the top. Below a valid
//          entry they accumulate until Prune removes them.
#pragma once

#include <algorithm>
#include <compare>
#include <optional>
#include <vector>

#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class ReadyHeap {
 public:
  struct Entry {
    int64_t rank_us = 0;
    WallTime due;
    RunKey key;
    uint32_t stamp = 0;

    auto operator<=>(const Entry&) const = default;
  };

  explicit ReadyHeap(Duration ageing) : ageing_(ageing) {}

  static constexpr Duration kBackgroundAfter = 24h;

  void Push(const PendingRun& run, uint32_t stamp, WallTime not_before = WallTime::min(),
            std::optional<WallTime> as_due = {}) {
    const bool background = (run.flags & run_flag::kBackground) != 0;
    const WallTime due = std::min(as_due.value_or(run.due), run.due);
    const WallTime from = background ? due + kBackgroundAfter : due;
    const int64_t rank = ToUnixMicros(from) - run.priority * ageing_.count();
    heap_.push_back({std::max(rank, ToUnixMicros(not_before)), run.due, run.key, stamp});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  const Entry& Top() const { return heap_.front(); }
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  // Removes all entries for which `waits` returns false.
  template <typename Waits>
  void Prune(const Waits& waits) {
    std::erase_if(heap_, [&waits](const Entry& entry) { return !waits(entry); });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  // All entries, in no particular order.
  const std::vector<Entry>& entries() const { return heap_; }

 private:
  const Duration ageing_;
  std::vector<Entry> heap_;
};

}  // namespace carillon::scheduler
