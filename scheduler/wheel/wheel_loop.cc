#include "scheduler/wheel/wheel_loop.h"

#include "common/base/check.h"

namespace carillon::scheduler {

Status WheelLoop::Insert(const RunKey& key, WallTime due) {
  const auto at = cluster_.ToSteady(due);
  if (!at) return {ErrorCode::kUnavailable, "wheel: cluster time is not known yet"};
  return wheel_.Insert(key, *at);
}

bool WheelLoop::IsDue(WallTime due) const {
  const auto now = cluster_.Now();
  return now && *now >= due;
}

void WheelLoop::PutBack(const RunKey& key, WallTime due) {
  // There is room, because the entry has just been removed.
  const Status back = Insert(key, due);
  CARILLON_CHECK(back.ok(), back.ok() ? "" : back.error().message);
}

}  // namespace carillon::scheduler
