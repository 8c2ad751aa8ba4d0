#include "common/adapters/system/system_clock.h"

#include <sys/random.h>
#include <time.h>

namespace carillon {
namespace {

Duration Read(clockid_t clock) {
  timespec now{};
  CARILLON_CHECK(clock_gettime(clock, &now) == 0, "clock_gettime");
  return Duration(now.tv_sec * int64_t{1'000'000} + now.tv_nsec / 1000);
}

}  // namespace

WallTime SystemClock::Wall() const { return WallTime(Read(CLOCK_REALTIME)); }
SteadyTime SystemClock::Steady() const { return SteadyTime(Read(CLOCK_BOOTTIME)); }

uint64_t RandomSeed() {
  uint64_t seed = 0;
  CARILLON_CHECK(getrandom(&seed, sizeof(seed), 0) == sizeof(seed), "getrandom");
  return seed;
}

}  // namespace carillon
