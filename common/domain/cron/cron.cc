#include "common/domain/cron/cron.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "common/domain/schedule/zone.h"

namespace carillon {
namespace {

bool Has(uint64_t set, int value) { return (set >> value) & 1; }
// The smallest member >= value, or -1. `value` < 64.
int AtLeast(uint64_t set, int value) {
  const uint64_t rest = set >> value;
  return rest == 0 ? -1 : value + std::countr_zero(rest);
}
int CountBelow(uint64_t set, int value) {
  return std::popcount(set & ((uint64_t{1} << value) - 1));
}

uint64_t ValuesOf(const CronField& field) {
  uint64_t set = 0;
  for (const CronItem& item : field.items) {
    for (int v = item.from; v <= item.to; v += item.step) set |= uint64_t{1} << v;
  }
  return set;
}

// The properties of a month that matter to the day fields.
struct Shape {
  int first_weekday;  // 0 = Sunday
  int length;

  int WeekdayOf(int day) const { return (first_weekday + day - 1) % 7; }
};

// A day that moves by at most kCronMoveDaysMax gets no farther than the second month from its own.
constexpr size_t kMonthsMoved = 2;
// The days that matter for the moves into one month: those of five months, and a move before and
// after them.
constexpr size_t kDaysKnown = 5 * 31 + 2 * kCronMoveDaysMax;

constexpr uint32_t Bit(int day) { return uint32_t{1} << day; }

// Bit of the Monday-to-Friday day nearest to `day` within the month; 0 if the month has no
// such day.
uint32_t NearestWorkday(const Shape& shape, int day) {
  if (day < 1 || day > shape.length) return 0;
  const int weekday = shape.WeekdayOf(day);
  if (weekday == 6) return Bit(day > 1 ? day - 1 : day + 2);
  if (weekday == 0) return Bit(day < shape.length ? day + 1 : day - 2);
  return Bit(day);
}

uint32_t DaysOfMonthItem(const Shape& shape, const CronItem& item) {
  uint32_t days = 0;
  switch (item.kind) {
    case CronItemKind::kLastDay: return item.n < shape.length ? Bit(shape.length - item.n) : 0;
    case CronItemKind::kNearestWorkday: return NearestWorkday(shape, item.n);
    case CronItemKind::kDayOrLast: return Bit(std::min(item.n, shape.length));
    case CronItemKind::kLastWorkday: return NearestWorkday(shape, shape.length - item.n);
    case CronItemKind::kWorkdays:
      for (int d = 1; d <= shape.length; ++d) {
        if (shape.WeekdayOf(d) >= 1 && shape.WeekdayOf(d) <= 5) days |= Bit(d);
      }
      return days;
    default:
      for (int d = item.from; d <= std::min(item.to, shape.length); d += item.step) days |= Bit(d);
      return days;
  }
}

uint32_t DaysOfWeekItem(const Shape& shape, const CronItem& item) {
  uint32_t days = 0;
  for (int d = 1; d <= shape.length; ++d) {
    const int weekday = shape.WeekdayOf(d);
    switch (item.kind) {
      case CronItemKind::kLastWeekday:
        if (weekday == item.from % 7 && d + 7 > shape.length) days |= Bit(d);
        break;
      case CronItemKind::kNthWeekday:
        if (weekday == item.from % 7 && (d - 1) / 7 + 1 == item.n) days |= Bit(d);
        break;
      default:
        for (int v = item.from; v <= item.to; v += item.step) {
          if (weekday == v % 7) days |= Bit(d);
        }
    }
  }
  return days;
}

bool DependsOnCalendars(const CronItem& item) {
  return item.move != CronMove::kNone || item.kind == CronItemKind::kNthInCalendar;
}

uint32_t MatchingDays(const CronExpression& expression, const Shape& shape) {
  const CronField& of_month = expression.field(CronUnit::kDayOfMonth);
  const CronField& of_week = expression.field(CronUnit::kDayOfWeek);
  uint32_t by_month = 0;
  uint32_t by_week = 0;
  for (const CronItem& item : of_month.items) {
    if (!DependsOnCalendars(item)) by_month |= DaysOfMonthItem(shape, item);
  }
  for (const CronItem& item : of_week.items) {
    if (!DependsOnCalendars(item)) by_week |= DaysOfWeekItem(shape, item);
  }
  const bool either = !of_month.starred && !of_week.starred;
  return either ? by_month | by_week : by_month & by_week;
}

}  // namespace

// A calendar month that can be changed to the following one.
struct CronPattern::Month {
  int64_t first_day;  // days since 1970-01-01
  int year;
  int month;  // 1-12
  int length;
  int first_weekday;

  // The month that contains `day`.
  static Month Of(int64_t day) {
    using namespace std::chrono;
    const year_month_day date{sys_days(days(day))};
    Month m{.first_day = day - static_cast<int>(unsigned{date.day()}) + 1,
            .year = static_cast<int>(date.year()),
            .month = static_cast<int>(unsigned{date.month()}),
            .length = 0,
            .first_weekday = 0};
    m.length = m.DaysIn();
    const int64_t since_thursday = m.first_day % 7 + 7;  // 1970-01-01 was a Thursday
    m.first_weekday = static_cast<int>((since_thursday + 4) % 7);
    return m;
  }
  void Advance() {
    first_day += length;
    first_weekday = (first_weekday + length) % 7;
    if (++month > 12) {
      month = 1;
      ++year;
    }
    length = DaysIn();
  }

 private:
  int DaysIn() const {
    if (month == 2) return std::chrono::year(year).is_leap() ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  }
};

// Asks about each day once.
class CronPattern::Known {
 public:
  // `first`: the earliest day that is asked about.
  Known(const CronDays* days, int64_t first) : days_(days), first_(first) {}

  bool Has(int64_t day) {
    if (days_ == nullptr) return true;
    Answer& answer = answers_[static_cast<size_t>(day - first_)];
    if (answer == Answer::kUnknown) answer = days_->Has(day) ? Answer::kYes : Answer::kNo;
    return answer == Answer::kYes;
  }
  // The day itself or, as `move` says, the nearest other one that is in the calendars.
  std::optional<int64_t> Moved(int64_t day, CronMove move) {
    for (int i = 0; i <= kCronMoveDaysMax; ++i) {
      const int64_t moved = move == CronMove::kNext ? day + i : day - i;
      if (Has(moved)) return moved;
    }
    return std::nullopt;
  }

 private:
  enum class Answer : uint8_t { kUnknown, kNo, kYes };
  const CronDays* const days_;
  const int64_t first_;
  std::array<Answer, kDaysKnown> answers_{};
};

CronPattern::CronPattern(const CronExpression& expression, std::shared_ptr<const CronDays> days)
    : seconds_(ValuesOf(expression.field(CronUnit::kSecond))),
      minutes_(ValuesOf(expression.field(CronUnit::kMinute))),
      hours_(ValuesOf(expression.field(CronUnit::kHour))),
      months_(ValuesOf(expression.field(CronUnit::kMonth))),
      has_years_(expression.has_years),
      calendars_(std::move(days)),
      names_hour_(!expression.field(CronUnit::kHour).starred) {
  for (int weekday = 0; weekday < 7; ++weekday) {
    for (int extra = 0; extra < 4; ++extra) {
      days_[static_cast<size_t>(weekday)][static_cast<size_t>(extra)] =
          MatchingDays(expression, {.first_weekday = weekday, .length = 28 + extra});
    }
  }
  for (const CronUnit unit : {CronUnit::kDayOfMonth, CronUnit::kDayOfWeek}) {
    for (const CronItem& item : expression.field(unit).items) {
      if (DependsOnCalendars(item)) moved_.push_back({item, unit == CronUnit::kDayOfWeek});
    }
  }
  for (const CronItem& item : expression.field(CronUnit::kYear).items) {
    for (int year = item.from; year <= item.to; year += item.step) {
      years_.set(static_cast<size_t>(year - kCronYearFirst));
    }
  }
  fires_per_day_ = std::popcount(seconds_) * std::popcount(minutes_) * std::popcount(hours_);
}

bool CronPattern::HasMonth(const Month& month) const {
  if (!Has(months_, month.month)) return false;
  const bool known = month.year >= kCronYearFirst && month.year <= kCronYearLast;
  return !has_years_ || (known && years_.test(static_cast<size_t>(month.year - kCronYearFirst)));
}

uint32_t CronPattern::DaysOf(const Month& month) const {
  uint32_t days = 0;
  if (HasMonth(month)) {
    days = days_[static_cast<size_t>(month.first_weekday)][static_cast<size_t>(month.length - 28)];
  }
  return moved_.empty() ? days : days | MovedDays(month);
}

// The days of `month` to which days of the month itself and of its neighbours move, and those that
// are counted. The month and year fields decide about the day before it moves.
uint32_t CronPattern::MovedDays(const Month& month) const {
  std::array<Month, 2 * kMonthsMoved + 1> around;
  around[kMonthsMoved] = month;
  for (size_t i = kMonthsMoved; i > 0; --i) around[i - 1] = Month::Of(around[i].first_day - 1);
  for (size_t i = kMonthsMoved; i + 1 < around.size(); ++i) {
    around[i + 1] = around[i];
    around[i + 1].Advance();
  }
  Known known(calendars_.get(), around.front().first_day - kCronMoveDaysMax);
  uint32_t days = 0;
  for (const auto& [item, of_week] : moved_) {
    if (item.kind == CronItemKind::kNthInCalendar) {
      if (HasMonth(month)) days |= NthDay(month, item.n, &known);
      continue;
    }
    const size_t first = item.move == CronMove::kNext ? 0 : kMonthsMoved;
    for (size_t i = first; i <= first + kMonthsMoved; ++i) {
      const Month& from = around[i];
      if (!HasMonth(from)) continue;
      const Shape shape{.first_weekday = from.first_weekday, .length = from.length};
      uint32_t left = of_week ? DaysOfWeekItem(shape, item) : DaysOfMonthItem(shape, item);
      for (; left != 0; left &= left - 1) {
        const auto moved = known.Moved(from.first_day + std::countr_zero(left) - 1, item.move);
        const int64_t day = moved.value_or(month.first_day - 1) - month.first_day + 1;
        if (day >= 1 && day <= month.length) days |= Bit(static_cast<int>(day));
      }
    }
  }
  return days;
}

// The `n`th day of the month in the calendars, counted from its end if `n` is negative.
uint32_t CronPattern::NthDay(const Month& month, int n, Known* known) {
  int left = std::abs(n);
  for (int i = 1; i <= month.length; ++i) {
    const int day = n > 0 ? i : month.length + 1 - i;
    if (known->Has(month.first_day + day - 1) && --left == 0) return Bit(day);
  }
  return 0;
}

int CronPattern::fires_per_minute() const { return std::popcount(seconds_); }

// The smallest time of day in the set that is >= `second_of_day`, or -1.
int CronPattern::NextInDay(int second_of_day) const {
  const int hour = second_of_day / 3600;
  const int minute = second_of_day / 60 % 60;
  const int first_second = std::countr_zero(seconds_);
  if (Has(hours_, hour)) {
    if (Has(minutes_, minute)) {
      const int second = AtLeast(seconds_, second_of_day % 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const int next_minute = AtLeast(minutes_, minute + 1);
    if (next_minute >= 0) return hour * 3600 + next_minute * 60 + first_second;
  }
  const int next_hour = AtLeast(hours_, hour + 1);
  if (next_hour < 0) return -1;
  return next_hour * 3600 + std::countr_zero(minutes_) * 60 + first_second;
}

std::optional<int64_t> CronPattern::Next(int64_t from, int64_t until) const {
  if (from >= until) return std::nullopt;
  const int64_t day = FloorDiv(from, kSecondsPerDay);
  const auto bounded = [until](int64_t found) {
    return found < until ? std::optional<int64_t>(found) : std::nullopt;
  };
  Month month = Month::Of(day);
  const int day_of_month = static_cast<int>(day - month.first_day) + 1;
  uint32_t days = DaysOf(month);
  if ((days & Bit(day_of_month)) != 0) {
    const int second = NextInDay(static_cast<int>(from - day * kSecondsPerDay));
    if (second >= 0) return bounded(day * kSecondsPerDay + second);
  }
  days &= ~((Bit(day_of_month) << 1) - 1);
  while (days == 0) {
    month.Advance();
    if (month.first_day * kSecondsPerDay >= until) return std::nullopt;
    days = DaysOf(month);
  }
  const int64_t found_day = month.first_day + std::countr_zero(days) - 1;
  return bounded(found_day * kSecondsPerDay + NextInDay(0));
}

bool CronPattern::Matches(int64_t local_second) const {
  return Next(local_second, local_second + 1).has_value();
}

// The number of times of day in the set below `second_of_day`.
int CronPattern::CountBefore(int second_of_day) const {
  const int hour = second_of_day / 3600;
  const int minute = second_of_day / 60 % 60;
  const int per_minute = std::popcount(seconds_);
  int count = CountBelow(hours_, hour) * std::popcount(minutes_) * per_minute;
  if (!Has(hours_, hour)) return count;
  count += CountBelow(minutes_, minute) * per_minute;
  return Has(minutes_, minute) ? count + CountBelow(seconds_, second_of_day % 60) : count;
}

// The number of matching days in [from_day, until_day).
int64_t CronPattern::CountDays(int64_t from_day, int64_t until_day) const {
  if (from_day >= until_day) return 0;
  int64_t count = 0;
  Month month = Month::Of(from_day);
  for (; month.first_day < until_day; month.Advance()) {
    uint32_t days = DaysOf(month);
    if (month.first_day < from_day)
      days &= ~((Bit(static_cast<int>(from_day - month.first_day)) << 1) - 1);
    const int64_t left = until_day - month.first_day;  // days of this month below until_day
    if (left < month.length) days &= (Bit(static_cast<int>(left)) << 1) - 1;
    count += std::popcount(days);
  }
  return count;
}

int64_t CronPattern::Count(int64_t from, int64_t until) const {
  if (from >= until) return 0;
  const int64_t first_day = FloorDiv(from, kSecondsPerDay);
  const int64_t last_day = FloorDiv(until, kSecondsPerDay);
  const auto before_in_day = [this](int64_t second, int64_t day) -> int64_t {
    if (CountDays(day, day + 1) == 0) return 0;
    return CountBefore(static_cast<int>(second - day * kSecondsPerDay));
  };
  return CountDays(first_day, last_day) * fires_per_day_ - before_in_day(from, first_day) +
         before_in_day(until, last_day);
}

}  // namespace carillon
