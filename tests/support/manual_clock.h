// A clock that changes only when the test moves it.
#pragma once

#include "common/base/clock.h"

namespace carillon::test {

class ManualClock : public Clock {
 public:
  explicit ManualClock(WallTime start = FromUnixMicros(1'772'323'200'000'000)) : wall_(start) {}
  WallTime Wall() const override { return wall_; }
  SteadyTime Steady() const override { return steady_; }
  void Advance(Duration by) {
    wall_ += by;
    steady_ += by;
  }
  // Moves the wall time only, as an administrator or NTP does.
  void StepWall(Duration by) { wall_ += by; }

 private:
  WallTime wall_;
  SteadyTime steady_{Duration(1'000'000'000)};
};

}  // namespace carillon::test
