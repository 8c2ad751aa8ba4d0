// Limits requests per second for each caller, with bursts. Uses the generic cell rate algorithm
// (ITU-T I.371) with one timestamp per caller.
//
// Threads  Not thread-safe; its owner guards it.
// Time     Never reads a clock. `now` comes from the caller.
// Always   At most kTrackedMax callers are tracked. All other callers share one allowance.
//          So callers with invented names cannot exhaust memory or evict the allowance of
//          a tracked caller.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace carillon::scheduler {

class RateLimit {
 public:
  static constexpr Duration kBurst = 5s;  // a burst has as many requests as this time allows
  static constexpr size_t kTrackedMax = 10'000;

  // 0 = no limit.
  explicit RateLimit(int64_t per_second)
      : interval_(per_second > 0 ? std::chrono::duration_cast<Duration>(1s) / per_second
                                 : Duration(0)) {}

  // Returns nullopt if the request is admitted, otherwise the time to wait before the next try.
  std::optional<Duration> Admit(const std::string& who, SteadyTime now);

 private:
  SteadyTime& PaidUntil(const std::string& who, SteadyTime now);

  Duration interval_;
  std::map<std::string, SteadyTime> paid_until_;
  SteadyTime others_paid_until_{};
};

}  // namespace carillon::scheduler
