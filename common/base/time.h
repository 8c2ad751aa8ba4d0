// The two kinds of time, as different types, both in microseconds.
//
// WallTime    UTC since 1970; for schedules, storage, display. May be stepped.
// SteadyTime  CLOCK_BOOTTIME; for timeouts, heartbeats, leases. Never stepped; includes suspend.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

using Duration = std::chrono::microseconds;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;

struct WallTimeline {
  using duration = Duration;
};
struct SteadyTimeline {
  using duration = Duration;
};
using WallTime = std::chrono::time_point<WallTimeline, Duration>;
using SteadyTime = std::chrono::time_point<SteadyTimeline, Duration>;

inline constexpr int64_t kMicrosPerSecond = 1'000'000;

// "No time": stored as INT64_MAX, later than every real time.
inline constexpr WallTime kNever = WallTime::max();

constexpr WallTime FromUnixMicros(int64_t us) { return WallTime(Duration(us)); }
constexpr int64_t ToUnixMicros(WallTime t) { return t.time_since_epoch().count(); }

// "2026-03-01T02:00:00.000000Z": always UTC, always six decimals. kNever gives "".
std::string FormatRfc3339(WallTime t);
// Parses an RFC 3339 time with an offset or Z and 0 to 9 decimals (truncated to 6); years 1970 to
// 4253 (the range of a RunKey). kInvalid otherwise.
Result<WallTime> ParseRfc3339(std::string_view text);

}  // namespace carillon
