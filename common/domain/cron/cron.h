// Cron expressions: parses text, and finds the local times that match. Independent of time zones.
//
// Place    Schedule (schedule.h) walks the periods of a zone and queries CronPattern in each.
// Errors   ParseCron: kInvalid naming the field, its column (from 1) and the reason.
// Always   Parsing is bounded by kCronTextBytesMax. A search is bounded by its end, and goes field
//          by field and month by month, never second by second.
//
// docs/schedules.md describes the language with examples. Decisions made here:
//   - five fields (minute first), six (second first) or seven (the year last);
//   - a seventh field that allows every year is dropped, as if there were six;
//   - a reversed range ("22-2") is rejected, because other implementations read it differently. As
//     the end of a range SUN is 7, so that FRI-SUN works;
//   - a field that begins with '*' or '?' is unrestricted; if both day fields are restricted, a day
//     that satisfies either matches, otherwise it must satisfy both;
//   - "a/n" means from a to the field's maximum in steps of n;
//   - C#n and the suffixes '<' and '>' ask which days are in the calendars of the schedule
//     (docs/adr/0043-days-of-calendars.md). The other day field must then allow every day;
//   - H is a value of its field that a seed decides. The parsed expression has the value, so
//     nothing else knows H. For the day of month it is at most 28, which every month has.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

inline constexpr size_t kCronTextBytesMax = 256;

enum class CronUnit { kSecond, kMinute, kHour, kDayOfMonth, kMonth, kDayOfWeek, kYear };

inline constexpr int kCronYearFirst = 1970;
inline constexpr int kCronYearLast = 2099;

enum class CronItemKind {
  kValues,          // from, from + step, … up to `to`
  kLastDay,         // L, L-n: `n` days before the last day of the month
  kDayOrLast,       // nL: day `n`, or the last day of a shorter month
  kNearestWorkday,  // nW: the working day nearest to day `n`, within the month
  kLastWorkday,     // LW, L-nW: the working day nearest to the day `n` days before the last
  kWorkdays,        // W: every Monday to Friday
  kLastWeekday,     // 5L: the last `from` (a weekday) of the month
  kNthWeekday,      // 5#2: the `n`th `from` (a weekday) of the month
  kNthInCalendar,   // C#n: the `n`th day of the month in the calendars, from the end if negative
};

// The direction in which a day that is not in the calendars moves.
enum class CronMove { kNone, kPrevious, kNext };  // 25 (nothing happens), 25<, 25>

// The farthest that a day moves. If none of these days is in the calendars, there is no fire.
inline constexpr int kCronMoveDaysMax = 31;

// One comma-separated item of a field. `kind` determines which members are used.
struct CronItem {
  CronItemKind kind = CronItemKind::kValues;
  int from = 0;
  int to = 0;
  int step = 1;
  int n = 0;
  CronMove move = CronMove::kNone;

  bool operator==(const CronItem&) const = default;
};

struct CronField {
  bool starred = false;  // begins with '*' or '?': unrestricted
  std::vector<CronItem> items;

  bool operator==(const CronField&) const = default;
};

struct CronExpression {
  bool has_seconds = false;  // six or seven fields
  bool has_years = false;    // seven fields, not every year; otherwise the field is empty
  std::array<CronField, 7> fields;

  const CronField& field(CronUnit unit) const { return fields[static_cast<size_t>(unit)]; }
  bool operator==(const CronExpression&) const = default;
};

// `spread`: the seed of the fields H.
Result<CronExpression> ParseCron(std::string_view text, uint64_t spread = 0);
// The same, but its refusals do not know the forms of other tools (cron_dialects.h).
Result<CronExpression> ParsePlainCron(std::string_view text, uint64_t spread = 0);

// True if a field of the text uses H. The text need not be valid.
bool UsesSpread(std::string_view text);

// The number of its fields; a macro is one. The text need not be valid.
size_t CronFieldCount(std::string_view text);

// True if the text has seven fields, or a day such as 30L, 25< or C#1:
// release 0.1.0 cannot read them.
bool UsesNewCronForm(std::string_view text);

// True if an item depends on the calendars of the schedule.
bool UsesCalendarDays(const CronExpression& expression);

// The expression in its canonical spelling: numbers for names and H, '*' for '?', macros expanded.
// Parsing the result gives an equal expression.
std::string FormatCron(const CronExpression& expression);

// The minimum and maximum of a field, and its name in messages ("day of week").
struct CronBounds {
  int least;
  int most;
  std::string_view name;
};
CronBounds BoundsOf(CronUnit unit);
// The greatest value that H alone may become.
int SpreadMost(CronUnit unit);

// The days that are in the calendars of a schedule. Immutable, safe to share between threads.
class CronDays {
 public:
  virtual ~CronDays() = default;
  // `day` counts from 1970-01-01, on a calendar without zones.
  virtual bool Has(int64_t day) const = 0;
};

// The set of local times that match an expression. A local time is a number of seconds since
// 1970-01-01T00:00:00 on a calendar without zones. Immutable.
class CronPattern {
 public:
  // Without `days`, all days are in the calendars.
  explicit CronPattern(const CronExpression& expression, std::shared_ptr<const CronDays> days = {});

  // The earliest match in [from, until).
  std::optional<int64_t> Next(int64_t from, int64_t until) const;
  // The number of matches in [from, until). Cost grows with the months between, not the matches.
  int64_t Count(int64_t from, int64_t until) const;
  bool Matches(int64_t local_second) const;
  // True if both have the same matches, and either both restrict the hour or none does.
  bool operator==(const CronPattern&) const = default;

  // True if the hour field is restricted.
  bool names_hour() const { return names_hour_; }
  // True if every hour matches, however the hour field is written.
  bool every_hour() const { return hours_ == (uint64_t{1} << 24) - 1; }
  // True if it fires in some years only.
  bool has_years() const { return has_years_; }
  // The number of fires in a minute that has any.
  int fires_per_minute() const;

 private:
  struct Month;
  class Known;
  struct MovedItem {
    CronItem item;
    bool of_week = false;  // of the field of days of the week

    bool operator==(const MovedItem&) const = default;
  };
  bool HasMonth(const Month& month) const;
  uint32_t DaysOf(const Month& month) const;
  uint32_t MovedDays(const Month& month) const;
  static uint32_t NthDay(const Month& month, int n, Known* known);
  int64_t CountDays(int64_t from_day, int64_t until_day) const;
  int CountBefore(int second_of_day) const;
  int NextInDay(int second_of_day) const;

  uint64_t seconds_ = 0;  // bit n is set if value n matches
  uint64_t minutes_ = 0;
  uint64_t hours_ = 0;
  uint64_t months_ = 0;
  std::bitset<kCronYearLast - kCronYearFirst + 1> years_;  // only if has_years_
  bool has_years_ = false;
  // The matching days (bit d: day d) of a month whose first day is weekday [0 = Sunday] and which
  // has 28 + [index] days. Nothing else influences them.
  std::array<std::array<uint32_t, 4>, 7> days_{};
  std::vector<MovedItem> moved_;  // those that depend on calendars; days_ is without them
  std::shared_ptr<const CronDays> calendars_;  // shared: copied with the pattern
  int fires_per_day_ = 0;
  bool names_hour_ = false;
};

}  // namespace carillon
