#include "common/domain/calendar/calendar_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace carillon {
namespace {

constexpr std::string_view kCalendarField = "/calendar";
constexpr std::string_view kBlackoutField = "/blackout";

// Why a calendar is not compiled: its zone may have left the host's tz database.
std::string WhyUnusable(const StoredCalendar& calendar) {
  if (!calendar.readable) return "cannot be read";
  const auto compiled = Calendar::Compile(calendar.definition);
  return compiled.ok() ? "" : "cannot be used: " + compiled.error().message;
}

}  // namespace

std::vector<int64_t> UnusedVersions(const std::vector<CalendarChange>& changes,
                                    const std::set<CalendarUse>& uses, WallTime before) {
  std::map<CalendarNo, std::map<int64_t, bool>> unused;  // by version
  for (const CalendarChange& change : changes) {
    unused[change.number][change.version] = change.effective < before;
  }
  for (auto& [number, versions] : unused) versions.rbegin()->second = false;
  for (const CalendarUse& use : uses) {
    const auto versions = unused.find(use.number);
    if (versions == unused.end()) continue;
    const auto next = versions->second.upper_bound(use.version);
    if (next != versions->second.end()) next->second = false;
  }
  std::vector<int64_t> found;
  for (const auto& [number, versions] : unused) {
    for (const auto& [version, is_unused] : versions) {
      if (is_unused) found.push_back(version);
    }
  }
  return found;
}

CalendarSet::CalendarSet(int64_t version, std::vector<StoredCalendar> calendars,
                         std::vector<CalendarChange> changes)
    : version_(version) {
  for (StoredCalendar& one : calendars) {
    std::string name = one.name;
    const StoredCalendar& stored = calendars_[std::move(name)] = std::move(one);
    Numbered numbered{.stored = &stored, .compiled = {}, .changes = {}};
    auto compiled = Calendar::Compile(stored.definition);
    if (stored.readable && compiled.ok()) {
      numbered.compiled = std::make_shared<const Calendar>(std::move(*compiled));
    }
    numbered_.emplace(stored.number, std::move(numbered));
  }
  std::sort(changes.begin(), changes.end(),
            [](const CalendarChange& a, const CalendarChange& b) { return a.version < b.version; });
  for (const CalendarChange& change : changes) {
    const auto found = numbered_.find(change.number);
    if (found != numbered_.end()) found->second.changes.push_back(change);
  }
}

const StoredCalendar* CalendarSet::Find(const std::string& name) const {
  const auto found = calendars_.find(name);
  return found == calendars_.end() ? nullptr : &found->second;
}

const CalendarSet::Numbered* CalendarSet::Find(CalendarNo number) const {
  const auto found = numbered_.find(number);
  return found == numbered_.end() ? nullptr : &found->second;
}

Result<CalendarNumbers> CalendarSet::NumbersOf(const std::string& calendar,
                                               const std::string& blackout) const {
  CalendarNumbers numbers;
  const auto resolve = [this](const std::string& name, std::string_view pointer,
                              CalendarNo* number) -> Status {
    if (name.empty()) return {};
    const StoredCalendar* found = Find(name);
    if (found == nullptr) {
      return Error{ErrorCode::kNotFound, fmt::format("there is no calendar {}", name),
                   std::string(pointer)};
    }
    *number = found->number;
    return {};
  };
  CARILLON_TRY(resolve(calendar, kCalendarField, &numbers.calendar));
  CARILLON_TRY(resolve(blackout, kBlackoutField, &numbers.blackout));
  return numbers;
}

Result<std::shared_ptr<const Calendar>> CalendarSet::CompiledOf(CalendarNo number,
                                                                std::string_view pointer) const {
  if (number == CalendarNo()) return std::shared_ptr<const Calendar>();
  const Numbered* found = Find(number);
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no calendar {}", number.value()),
                 std::string(pointer)};
  }
  if (found->compiled == nullptr) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("calendar {} {}", found->stored->name, WhyUnusable(*found->stored)),
                 std::string(pointer)};
  }
  return found->compiled;
}

Result<ScheduleCalendars> CalendarSet::Of(const CalendarNumbers& numbers) const {
  ScheduleCalendars calendars;
  CARILLON_ASSIGN_OR_RETURN(calendars.calendar, CompiledOf(numbers.calendar, kCalendarField));
  CARILLON_ASSIGN_OR_RETURN(calendars.blackout, CompiledOf(numbers.blackout, kBlackoutField));
  return calendars;
}

Result<ScheduleCalendars> CalendarSet::Of(const std::string& calendar,
                                          const std::string& blackout) const {
  CARILLON_ASSIGN_OR_RETURN(const CalendarNumbers numbers, NumbersOf(calendar, blackout));
  return Of(numbers);
}

Result<std::vector<ScheduleCalendars>> CalendarSet::OfAll(
    const std::vector<ScheduleSpec>& specs) const {
  std::vector<ScheduleCalendars> all;
  for (size_t i = 0; i < specs.size(); ++i) {
    auto one = Of(specs[i].calendar, specs[i].blackout);
    if (!one.ok()) {
      const bool unknown = one.code() == ErrorCode::kNotFound;
      return Error{unknown ? ErrorCode::kInvalid : one.code(), one.error().message,
                   fmt::format("/schedules/{}{}", i, one.error().pointer)};
    }
    all.push_back(std::move(*one));
  }
  return all;
}

int64_t CalendarSet::VersionOf(const CalendarNumbers& numbers) const {
  int64_t version = 0;
  for (const CalendarNo number : {numbers.calendar, numbers.blackout}) {
    if (const Numbered* found = Find(number)) version = std::max(version, found->stored->version);
  }
  return version;
}

WallTime CalendarSet::ChangedSince(const CalendarNumbers& numbers, int64_t version) const {
  WallTime earliest = kNever;
  for (const CalendarNo number : {numbers.calendar, numbers.blackout}) {
    const Numbered* found = Find(number);
    if (found == nullptr) continue;
    for (const CalendarChange& change : found->changes) {
      if (change.version > version) earliest = std::min(earliest, change.effective);
    }
  }
  return earliest;
}

}  // namespace carillon
