#include "common/domain/schedule/jitter.h"

#include <algorithm>

#include "common/base/stable_hash.h"

namespace carillon {

Duration SpreadOf(ScheduleId id, WallTime fire, Duration room) {
  if (room <= Duration{}) return {};
  // Mixed twice, because fires are regular and ids are small: a sum of both would repeat.
  const uint64_t seed = MixBits((id.value() + 1) * 0x9e3779b97f4a7c15ull);
  const uint64_t hash = MixBits(seed ^ static_cast<uint64_t>(ToUnixMicros(fire)));
  return Duration(static_cast<int64_t>(hash % static_cast<uint64_t>(room.count())));
}

WallTime DueTimes::Of(WallTime fire) const {
  Duration room = jitter();
  if (room == Duration{}) return fire;
  if (const auto next = schedule_->Next(fire)) room = std::min(room, next->time - fire);
  return fire + SpreadOf(id_, fire, room);
}

WallTime DueTimes::FiresDueBefore(WallTime due) const {
  if (jitter() == Duration{}) return due;
  // Only the last fire before `due` may still be due later: each earlier one is due before it.
  const WallTime from = due - jitter();
  const int64_t fires = schedule_->Count(from, due);
  if (fires == 0) return due;
  const WallTime last = schedule_->Nth(from, fires - 1).value();
  return Of(last) >= due ? last : due;
}

}  // namespace carillon
