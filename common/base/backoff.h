// Exponential back-off with jitter, for calls to an unavailable dependency.
#pragma once

#include <algorithm>

#include "common/base/rng.h"
#include "common/base/time.h"

namespace carillon {

class Backoff {
 public:
  // The first wait is at most `first`. With each failure the ceiling doubles, up to `longest`.
  struct Limits {
    Duration first = 50ms;
    Duration longest = 2s;
  };
  explicit Backoff(Limits limits) : limits_(limits), ceiling_(limits.first) {}

  // The wait after one more failure: uniform in (ceiling/2, ceiling].
  Duration Next(Rng& rng) {
    const Duration half = ceiling_ / 2;
    const Duration wait = half + Duration(1 + rng.Below(std::max<int64_t>(1, half.count())));
    ceiling_ = std::min(ceiling_ * 2, limits_.longest);
    return wait;
  }
  void Reset() { ceiling_ = limits_.first; }

 private:
  Limits limits_;
  Duration ceiling_;
};

}  // namespace carillon
