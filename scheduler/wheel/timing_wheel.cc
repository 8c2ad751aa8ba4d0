#include "scheduler/wheel/timing_wheel.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kWordBits = 64;

// Returns the last tick that has begun at `t`.
int64_t FloorTick(SteadyTime t) {
  const int64_t us = t.time_since_epoch().count();
  const int64_t tick = kWheelTick.count();
  return us >= 0 ? us / tick : -((-us + tick - 1) / tick);
}

// Returns the first tick that begins at or after `t`. So an entry is never returned early.
int64_t CeilTick(SteadyTime t) {
  const int64_t us = t.time_since_epoch().count();
  const int64_t tick = kWheelTick.count();
  return us > 0 ? us / tick + (us % tick != 0) : -(-us / tick);
}

SteadyTime TickStart(int64_t tick) { return SteadyTime(kWheelTick * tick); }

}  // namespace

TimingWheel::TimingWheel(SteadyTime start, size_t capacity, size_t slots)
    : capacity_(capacity),
      mask_(slots - 1),
      cursor_(FloorTick(start)),
      buckets_(slots),
      occupied_(slots / kWordBits) {
  CARILLON_CHECK(slots >= kWordBits && std::has_single_bit(slots), "slots is a power of two");
}

Status TimingWheel::Insert(const RunKey& key, SteadyTime due) {
  if (Contains(key)) return {};
  if (size() >= capacity_) return {ErrorCode::kExhausted, "the timing wheel is full"};
  // At least the next tick. An entry in a tick that was already visited would wait for
  // a whole revolution.
  const int64_t tick = std::max(CeilTick(due), cursor_ + 1);
  buckets_[SlotOf(tick)].push_back({key, due, tick});
  SetOccupied(SlotOf(tick), true);
  ticks_.emplace(key, tick);
  return {};
}

bool TimingWheel::Erase(const RunKey& key) {
  const auto found = ticks_.find(key);
  if (found == ticks_.end()) return false;
  const auto same = [&](const Entry& entry) { return entry.key == key; };
  auto& bucket = buckets_[SlotOf(found->second)];
  if (std::erase_if(bucket, same) > 0) {
    if (bucket.empty()) SetOccupied(SlotOf(found->second), false);
  } else {
    std::erase_if(backlog_, same);
  }
  ticks_.erase(found);
  return true;
}

std::vector<TimingWheel::Due> TimingWheel::Advance(SteadyTime now, size_t max) {
  const int64_t now_tick = FloorTick(now);
  std::vector<Entry> due;
  if (now_tick > cursor_) {
    const auto span = static_cast<size_t>(
        std::min<int64_t>(now_tick - cursor_, static_cast<int64_t>(buckets_.size())));
    size_t done = 0;
    while (done < span) {
      const auto ahead = DistanceToOccupied(SlotOf(cursor_ + 1 + static_cast<int64_t>(done)));
      if (!ahead || done + *ahead >= span) break;
      done += *ahead;
      CollectBucket(SlotOf(cursor_ + 1 + static_cast<int64_t>(done)), now_tick, &due);
      ++done;
    }
    cursor_ = now_tick;
  }
  const auto later = [](const Entry& a, const Entry& b) { return b.due < a.due; };
  if (!due.empty()) {
    backlog_.insert(backlog_.end(), due.begin(), due.end());
    std::stable_sort(backlog_.begin(), backlog_.end(), later);
  }
  std::vector<Due> taken;
  taken.reserve(std::min(max, backlog_.size()));
  while (!backlog_.empty() && taken.size() < max) {
    taken.push_back({backlog_.back().key, backlog_.back().due});
    ticks_.erase(backlog_.back().key);
    backlog_.pop_back();
  }
  return taken;
}

std::optional<SteadyTime> TimingWheel::NextDue() const {
  if (!backlog_.empty()) return backlog_.back().due;
  const auto ahead = DistanceToOccupied(SlotOf(cursor_ + 1));
  if (!ahead) return std::nullopt;
  return TickStart(cursor_ + 1 + static_cast<int64_t>(*ahead));
}

void TimingWheel::CollectBucket(size_t slot, int64_t now_tick, std::vector<Entry>* due) {
  auto& bucket = buckets_[slot];
  const auto middle = std::partition(bucket.begin(), bucket.end(),
                                     [&](const Entry& entry) { return entry.tick > now_tick; });
  due->insert(due->end(), middle, bucket.end());
  bucket.erase(middle, bucket.end());
  if (bucket.empty()) SetOccupied(slot, false);
}

void TimingWheel::SetOccupied(size_t slot, bool occupied) {
  const uint64_t bit = uint64_t{1} << (slot % kWordBits);
  if (occupied) {
    occupied_[slot / kWordBits] |= bit;
  } else {
    occupied_[slot / kWordBits] &= ~bit;
  }
}

std::optional<size_t> TimingWheel::DistanceToOccupied(size_t from) const {
  const size_t words = occupied_.size();
  // The first word is examined twice: at the beginning the bits from `from` on, at the end the
  // bits below `from`.
  for (size_t i = 0; i <= words; ++i) {
    const size_t index = (from / kWordBits + i) % words;
    uint64_t word = occupied_[index];
    if (i == 0) word &= ~uint64_t{0} << (from % kWordBits);
    if (i == words) word &= (uint64_t{1} << (from % kWordBits)) - 1;
    if (word == 0) continue;
    const size_t slot = index * kWordBits + static_cast<size_t>(std::countr_zero(word));
    return (slot - from) & mask_;
  }
  return std::nullopt;
}

}  // namespace carillon::scheduler
