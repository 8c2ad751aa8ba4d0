#include "common/domain/schedule/zone.h"

#include <absl/time/time.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "common/base/ascii.h"
#include "common/base/mutex.h"
#include "common/domain/schedule/zone_names.h"

namespace carillon {
namespace {

constexpr size_t kNameBytesMax = 64;
constexpr std::string_view kUtc = "UTC";
constexpr int64_t kOffsetMax = 26 * int64_t{3'600};  // no zone is farther from UTC

Error Unknown(std::string_view name) {
  std::string shown(name.substr(0, kNameBytesMax));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7E) c = '.';
  }
  if (const std::string instead = NewZoneName(name); !instead.empty()) {
    return {ErrorCode::kInvalid, "unknown time zone '" + shown + "'; use its new name " + instead +
                                     " (the old one is in Debian's package tzdata-legacy)"};
  }
  return {ErrorCode::kInvalid, "unknown time zone '" + shown +
                                   "'; use an IANA name such as Europe/Paris (the zones come from "
                                   "the host's tzdata package)"};
}

// True if the name has the form of an IANA name. Rejects paths ("/etc/passwd", "../x"), which must
// not reach the loader. Also rejects names that depend on the host ("localtime") or count leap
// seconds ("right/…").
bool LooksLikeZone(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) return false;
  for (const std::string_view prefix : {"posix/", "right/", "Fixed/"}) {
    if (name.starts_with(prefix)) return false;
  }
  for (const std::string_view other : {"localtime", "posixrules", "Factory"}) {
    if (name == other) return false;
  }
  char previous = '/';
  for (const char c : name) {
    const bool inner = (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-' || c == '/';
    if (!IsLetter(c) && (previous == '/' || !inner)) return false;
    previous = c;
  }
  return previous != '/';
}

// True if the zone's file exists. Must be called before the loader, because the loader keeps every
// name that it receives: wrong names would use memory permanently.
bool HasFile(std::string_view name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(ZoneDirectory() / name, ignored);
}

}  // namespace

Result<const Zone*> Zone::Load(std::string_view name) {
  static Mutex mu;
  static auto& zones = *new std::map<std::string, std::unique_ptr<const Zone>, std::less<>>();
  {
    MutexLock lock(mu);
    const auto found = zones.find(name);
    if (found != zones.end()) return found->second.get();
  }
  absl::TimeZone tz = absl::UTCTimeZone();
  if (name != kUtc) {
    if (!LooksLikeZone(name) || !HasFile(name)) return Unknown(name);
    if (!absl::LoadTimeZone(std::string(name), &tz)) return Unknown(name);
  }
  const absl::Time end = absl::FromUnixSeconds(kZoneEnd);
  absl::Time at = absl::FromUnixSeconds(kZoneBegin);
  std::vector<Step> steps{{kZoneBegin, tz.At(at).offset}};
  absl::TimeZone::CivilTransition transition;
  while (tz.NextTransition(at, &transition)) {
    at = tz.At(transition.to).trans;
    if (at >= end) break;
    const int32_t offset = tz.At(at).offset;
    if (offset != steps.back().offset) steps.push_back({absl::ToUnixSeconds(at), offset});
  }
  MutexLock lock(mu);
  auto& slot = zones[std::string(name)];
  // Another thread may have loaded the zone meanwhile. That object is kept: it is already in use.
  if (slot == nullptr) slot.reset(new Zone(std::string(name), std::move(steps)));
  return slot.get();
}

size_t Zone::IndexAt(int64_t second) const {
  CARILLON_CHECK(second >= kZoneBegin && second < kZoneEnd, name_);
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), second,
                       [](int64_t wanted, const Step& step) { return wanted < step.begin; });
  return static_cast<size_t>(after - steps_.begin()) - 1;
}

ZonePeriod Zone::Period(size_t index) const {
  const Step& step = steps_[index];
  const bool last = index + 1 == steps_.size();
  const int32_t before = index == 0 ? step.offset : steps_[index - 1].offset;
  const int32_t after = last ? step.offset : steps_[index + 1].offset;
  ZonePeriod period{.begin = step.begin,
                    .end = last ? kZoneEnd : steps_[index + 1].begin,
                    .offset = step.offset,
                    .gap_from = step.begin + std::min(before, step.offset),
                    .second_until = 0,
                    .first_from = 0};
  period.second_until = std::min(period.end, step.begin + std::max(0, before - step.offset));
  period.first_from = std::max(period.begin, period.end - std::max(0, step.offset - after));
  return period;
}

WallTime BeginOfDay(const Zone& zone, int64_t day) {
  const int64_t local = day * kSecondsPerDay;
  const int64_t from = std::clamp(local - kOffsetMax, kZoneBegin, kZoneEnd - 1);
  for (size_t i = zone.IndexAt(from); i < zone.size(); ++i) {
    const ZonePeriod period = zone.Period(i);
    const int64_t second = std::max(period.begin, local - period.offset);
    if (second < period.end) return FromUnixMicros(second * kMicrosPerSecond);
  }
  return FromUnixMicros(kZoneEnd * kMicrosPerSecond);
}

}  // namespace carillon
