#include "common/base/time.h"

#include <array>
#include <cstdio>

namespace carillon {
namespace {

// The largest instant a RunKey can carry: 2^56 - 1 microseconds, in the year 4253.
constexpr int64_t kLastMicros = (int64_t{1} << 56) - 1;

Error Bad(std::string_view text) {
  return {ErrorCode::kInvalid, "not an RFC 3339 time: '" + std::string(text) + "'"};
}

// Reads exactly `count` digits at `pos`; -1 if there are fewer.
int Digits(std::string_view text, size_t pos, size_t count) {
  if (pos + count > text.size()) return -1;
  int value = 0;
  for (size_t i = pos; i < pos + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool At(std::string_view text, size_t pos, std::string_view any) {
  return pos < text.size() && any.find(text[pos]) != std::string_view::npos;
}

}  // namespace

std::string FormatRfc3339(WallTime t) {
  if (t == kNever) return {};
  using namespace std::chrono;
  const sys_time<Duration> sys(t.time_since_epoch());
  const auto day = floor<days>(sys);
  const year_month_day date(day);
  const int64_t rest = (sys - day).count();
  std::array<char, 40> buffer{};
  std::snprintf(
      buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(rest / (3600 * kMicrosPerSecond)),
      static_cast<int>(rest / (60 * kMicrosPerSecond) % 60),
      static_cast<int>(rest / kMicrosPerSecond % 60), static_cast<int>(rest % kMicrosPerSecond));
  return buffer.data();
}

Result<WallTime> ParseRfc3339(std::string_view text) {
  using namespace std::chrono;
  const int y = Digits(text, 0, 4), mo = Digits(text, 5, 2), d = Digits(text, 8, 2);
  const int h = Digits(text, 11, 2), mi = Digits(text, 14, 2), s = Digits(text, 17, 2);
  if (y < 0 || mo < 0 || d < 0 || h < 0 || mi < 0 || s < 0) return Bad(text);
  if (!At(text, 4, "-") || !At(text, 7, "-") || !At(text, 10, "Tt ") || !At(text, 13, ":") ||
      !At(text, 16, ":") || h > 23 || mi > 59 || s > 59) {
    return Bad(text);
  }
  const year_month_day date{year(y), month(static_cast<unsigned>(mo)),
                            day(static_cast<unsigned>(d))};
  if (!date.ok()) return Bad(text);
  size_t pos = 19;
  int64_t micros = 0;
  if (At(text, pos, ".")) {
    const size_t first = ++pos;
    for (int64_t unit = kMicrosPerSecond / 10; At(text, pos, "0123456789"); ++pos, unit /= 10) {
      micros += unit * (text[pos] - '0');
    }
    if (pos == first || pos - first > 9) return Bad(text);
  }
  int offset = 0;  // seconds
  if (At(text, pos, "Zz")) {
    ++pos;
  } else if (At(text, pos, "+-")) {
    const int oh = Digits(text, pos + 1, 2), om = Digits(text, pos + 4, 2);
    if (oh < 0 || oh > 23 || om < 0 || om > 59 || !At(text, pos + 3, ":")) return Bad(text);
    offset = (text[pos] == '-' ? -60 : 60) * (oh * 60 + om);
    pos += 6;
  } else {
    return Bad(text);
  }
  if (pos != text.size()) return Bad(text);
  const int of_day = h * 3600 + mi * 60 + s;
  const int64_t seconds =
      sys_days(date).time_since_epoch().count() * int64_t{86400} + of_day - offset;
  const int64_t us = seconds * kMicrosPerSecond + micros;
  if (us < 0 || us > kLastMicros) {
    return {ErrorCode::kInvalid, "not from 1970 to 4253: '" + std::string(text) + "'"};
  }
  return FromUnixMicros(us);
}

}  // namespace carillon
