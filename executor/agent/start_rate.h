// The number of processes that may start in a second: a token bucket, as the generic cell rate
// algorithm (ITU-T I.371) keeps it, with one timestamp. Pure.
//
// Threads  Set is thread-safe; the core loop calls all others.
// Always   In any time t, at most rate * (t + kBurst) + 1 starts.
#pragma once

#include <algorithm>
#include <atomic>

#include "common/base/time.h"

namespace carillon::executor {

class StartRate {
 public:
  static constexpr Duration kBurst = 100ms;

  // 0 = no limit.
  explicit StartRate(int per_second) : per_second_(per_second) {}
  void Set(int per_second) { per_second_.store(per_second); }
  int per_second() const { return per_second_.load(); }

  // Takes one start, or returns false if it must wait until Next.
  bool Take(SteadyTime now) {
    const int rate = per_second();
    if (rate == 0) return true;
    if (now < Next()) return false;
    paid_until_ = std::max(paid_until_, now) + Duration(1s) / rate;
    return true;
  }
  SteadyTime Next() const { return per_second() == 0 ? SteadyTime{} : paid_until_ - kBurst; }

 private:
  std::atomic<int> per_second_;
  SteadyTime paid_until_{};
};

}  // namespace carillon::executor
