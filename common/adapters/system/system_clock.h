// The host's clocks: CLOCK_REALTIME and CLOCK_BOOTTIME.
#pragma once

#include "common/base/clock.h"

namespace carillon {

class SystemClock : public Clock {
 public:
  WallTime Wall() const override;
  SteadyTime Steady() const override;
};

// 64 random bits from the kernel, to seed an Rng.
uint64_t RandomSeed();

}  // namespace carillon
