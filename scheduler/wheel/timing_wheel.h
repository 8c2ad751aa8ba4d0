// Holds future fires and hands back those that are due.
//
// A hashed wheel of kWheelSlots buckets. Each bucket is one tick (1 ms) wide. Entries of later
// revolutions stay in their bucket. Example with 8 buckets and the cursor at tick 10:
//
//   Insert(a, 11)  Insert(b, 13)  Insert(c, 19)      bucket 3: a(11) c(19)   bucket 5: b(13)
//   Advance(12) -> a       buckets 3 and 4 are visited; c stays until the next revolution
//   Advance(40) -> b c     more than one revolution has passed: every bucket is visited once
//
// Place    Step 3 of docs/life-of-a-run.md: wheel_loop fills it and drains it.
// Threads  Not thread-safe; one loop owns it.
// Time     Never reads a clock. Times come from the caller; `now` may repeat but must not go back.
// Owns     Its buckets. Keys are copied in; nothing must outlive the wheel.
// Errors   Insert: kExhausted above `capacity` (the caller leaves the row for the sweep).
// Always   A key is in at most one bucket; size() <= capacity; nothing is returned before its time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/run_id.h"

namespace carillon::scheduler {

inline constexpr Duration kWheelTick = 1ms;
inline constexpr size_t kWheelSlots = size_t{1} << 16;  // a revolution is 65.5 s

class TimingWheel {
 public:
  struct Due {
    RunKey key;
    SteadyTime due;
  };

  // `slots` is the number of buckets: a power of two, at least 64.
  TimingWheel(SteadyTime start, size_t capacity, size_t slots = kWheelSlots);

  // A key that is already held keeps its time, and the call succeeds. An entry whose time is in the
  // past is due at the next Advance.
  Status Insert(const RunKey& key, SteadyTime due);
  // Returns false if the key is not held.
  bool Erase(const RunKey& key);
  bool Contains(const RunKey& key) const { return ticks_.count(key) > 0; }

  // Removes and returns the entries due at or before `now`, ordered by time, at most `max`. The
  // next call returns the remaining entries.
  std::vector<Due> Advance(SteadyTime now, size_t max = SIZE_MAX);

  // The earliest time at which an entry may be due; nullopt if the wheel is empty. It may be
  // too early, because the next bucket may hold only entries of later revolutions. It is
  // never too late.
  std::optional<SteadyTime> NextDue() const;

  size_t size() const { return ticks_.size(); }
  size_t capacity() const { return capacity_; }

 private:
  struct Entry {
    RunKey key;
    SteadyTime due;
    int64_t tick;
  };

  size_t SlotOf(int64_t tick) const { return static_cast<size_t>(tick) & mask_; }
  void CollectBucket(size_t slot, int64_t now_tick, std::vector<Entry>* due);
  void SetOccupied(size_t slot, bool occupied);
  // Number of buckets from `from` forward to the first occupied one. nullopt if there is none.
  std::optional<size_t> DistanceToOccupied(size_t from) const;

  const size_t capacity_;
  const size_t mask_;
  int64_t cursor_;  // every tick <= cursor_ was visited
  std::vector<std::vector<Entry>> buckets_;
  std::vector<uint64_t> occupied_;  // a bit for each bucket
  std::vector<Entry> backlog_;      // due entries beyond the `max` of an Advance; latest first
  std::unordered_map<RunKey, int64_t> ticks_;
};

}  // namespace carillon::scheduler
