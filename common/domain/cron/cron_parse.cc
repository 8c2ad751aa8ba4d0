#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/ascii.h"
#include "common/base/stable_hash.h"
#include "common/domain/cron/cron.h"
#include "common/domain/cron/cron_dialects.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::array<CronBounds, 7> kBounds{{{0, 59, "second"},
                                             {0, 59, "minute"},
                                             {0, 23, "hour"},
                                             {1, 31, "day of month"},
                                             {1, 12, "month"},
                                             {0, 7, "day of week"},
                                             {kCronYearFirst, kCronYearLast, "year"}}};
constexpr std::array<std::string_view, 12> kMonthNames{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> kDayNames{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};
constexpr int kSundayAtTheEnd = 7;
constexpr int kDaysBeforeLastMax = 30;
constexpr int kNthMax = 5;
constexpr int kDaysOfEveryMonth = 28;
constexpr size_t kNameLength = 3;
constexpr size_t kDigitsMax = 4;
constexpr int kAnyValue = 60;  // no field that may have H has more values
constexpr uint64_t kSpreadStep = 0x9e3779b97f4a7c15ull;

struct Macro {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<Macro, 7> kMacros{{{"@YEARLY", "0 0 1 1 *"},
                                        {"@ANNUALLY", "0 0 1 1 *"},
                                        {"@MONTHLY", "0 0 1 * *"},
                                        {"@WEEKLY", "0 0 * * 0"},
                                        {"@DAILY", "0 0 * * *"},
                                        {"@MIDNIGHT", "0 0 * * *"},
                                        {"@HOURLY", "0 * * * *"}}};

Error Bad(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// A printable, truncated form of the user's text, for messages.
std::string Quoted(std::string_view text) {
  constexpr size_t kShownMax = 24;
  std::string shown;
  for (const char c : text.substr(0, kShownMax)) shown += (c < 0x20 || c > 0x7E) ? '.' : c;
  return "'" + shown + (text.size() > kShownMax ? "...'" : "'");
}

struct Span {
  size_t begin;
  size_t end;
};

// Reads one field. `text` is the whole expression in upper case, the field is [pos_, end_).
class FieldParser {
 public:
  FieldParser(std::string_view text, Span field, CronUnit unit, uint64_t spread)
      : text_(text),
        pos_(field.begin),
        end_(field.end),
        unit_(unit),
        bounds_(BoundsOf(unit)),
        spread_(spread) {}

  Result<CronField> Parse() {
    CronField field{.starred = Peek() == '*' || Peek() == '?', .items = {}};
    if (Peek() == '?') return ParseAny(std::move(field));
    while (true) {
      CARILLON_ASSIGN_OR_RETURN(CronItem item, ParseItem());
      field.items.push_back(item);
      if (pos_ == end_) return field;
      if (!Take(',')) return Unexpected();
    }
  }

 private:
  char Peek() const { return pos_ < end_ ? text_[pos_] : '\0'; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++pos_;
    return true;
  }
  std::string_view Rest() const { return text_.substr(pos_, end_ - pos_); }
  bool is_day_of_month() const { return unit_ == CronUnit::kDayOfMonth; }
  bool is_day_of_week() const { return unit_ == CronUnit::kDayOfWeek; }
  // The end of "*" and of "a/n". For days of the week it is 6, because 7 is another name
  // for Sunday.
  int Last() const { return is_day_of_week() ? 6 : bounds_.most; }

  Error Fail(std::string_view why) const {
    return Bad(fmt::format("{}: {}, column {}", bounds_.name, why, pos_ + 1));
  }

  Error Unexpected() const { return Fail("unexpected " + Quoted(Rest())); }

  Result<CronField> ParseAny(CronField field) {
    if (!is_day_of_month() && !is_day_of_week() && unit_ != CronUnit::kYear)
      return Fail("'?' is only allowed in the two day fields");
    ++pos_;
    if (pos_ != end_) return Fail("'?' must be the only value of its field");
    field.items.push_back({.from = bounds_.least, .to = Last()});
    return field;
  }

  Result<CronItem> ParseItem() {
    if (Take('*')) {
      CronItem item{.from = bounds_.least, .to = Last()};
      CARILLON_TRY(ParseStep(item));
      return item;
    }
    if (unit_ != CronUnit::kYear && Take('H')) return ParseSpread();
    if (is_day_of_month() && Peek() == 'L') return ParseLast();
    if (is_day_of_month() && Take('W')) return CronItem{.kind = CronItemKind::kWorkdays};
    if (is_day_of_month() && Peek() == 'C') return ParseNthInCalendar();
    if (is_day_of_week() && Peek() == 'L') {
      return Fail("'L' needs a weekday before it, for example 5L for the last Friday");
    }
    return ParseValues();
  }

  // H, H/n, H(a-b), H(a-b)/n, after the H. Fields of one expression have independent values.
  Result<CronItem> ParseSpread() {
    CronItem item{.from = bounds_.least, .to = SpreadMost(unit_)};
    if (Take('(')) {
      const size_t first = pos_;
      CARILLON_ASSIGN_OR_RETURN(item.from, ParseValue());
      if (Peek() != '-') return Fail("H needs a range, for example H(0-29)");
      CARILLON_TRY(ParseRangeEnd(first, item));
      if (!Take(')')) return Fail("the ')' after the range of H is missing");
    }
    const bool repeats = Peek() == '/';
    CARILLON_TRY(ParseStep(item));
    const int choices = std::min(repeats ? item.step : kAnyValue, item.to - item.from + 1);
    const uint64_t hash = MixBits(spread_ + (static_cast<uint64_t>(unit_) + 1) * kSpreadStep);
    item.from += static_cast<int>(hash % static_cast<uint64_t>(choices));
    if (!repeats) item.to = item.from;
    return item;
  }

  // L, L-n, LW, L-nW; L<, L-n<.
  Result<CronItem> ParseLast() {
    ++pos_;
    CronItem item{.kind = CronItemKind::kLastDay};
    if (Take('-')) {
      CARILLON_ASSIGN_OR_RETURN(item.n, ParseNumber(0, kDaysBeforeLastMax));
    }
    if (Take('W')) {
      item.kind = CronItemKind::kLastWorkday;
      return item;
    }
    return Movable(item);
  }

  // C#n, C#-n.
  Result<CronItem> ParseNthInCalendar() {
    if (!Rest().starts_with("C#")) {
      return Fail(
          "'C' needs a number: C#1 is the first day of the month in the calendar, C#-1 "
          "the last");
    }
    pos_ += 2;
    const bool from_end = Take('-');
    CronItem item{.kind = CronItemKind::kNthInCalendar};
    CARILLON_ASSIGN_OR_RETURN(item.n, ParseNumber(1, bounds_.most));
    if (from_end) item.n = -item.n;
    return item;
  }

  // Reads the suffix '<' or '>' of a single day.
  CronItem Movable(CronItem item) {
    if (Take('<'))
      item.move = CronMove::kPrevious;
    else if (Take('>'))
      item.move = CronMove::kNext;
    return item;
  }

  // a, a-b, a-b/n, a/n, and the suffixes of a single day: 15W, 5L, 5#2, 25<.
  Result<CronItem> ParseValues() {
    const size_t first = pos_;
    CronItem item;
    CARILLON_ASSIGN_OR_RETURN(item.from, ParseValue());
    item.to = item.from;
    if (is_day_of_month() && Take('W')) {
      return CronItem{.kind = CronItemKind::kNearestWorkday, .n = item.from};
    }
    if (is_day_of_month() && Peek() == 'L') return ParseDayOrLast(item.from);
    if (is_day_of_week() && Take('L')) {
      return Movable({.kind = CronItemKind::kLastWeekday, .from = item.from % 7});
    }
    if (is_day_of_week() && Take('#')) {
      CARILLON_ASSIGN_OR_RETURN(const int nth, ParseNumber(1, kNthMax));
      return Movable({.kind = CronItemKind::kNthWeekday, .from = item.from % 7, .n = nth});
    }
    if (is_day_of_month() && Peek() == 'C') {
      return Fail(fmt::format("write {0}> for day {0} or the next day in the calendar", item.from));
    }
    if ((is_day_of_month() || is_day_of_week()) && (Peek() == '<' || Peek() == '>')) {
      return Movable(item);
    }
    if (Peek() == '-') {
      CARILLON_TRY(ParseRangeEnd(first, item));
    } else if (Peek() == '/') {
      item.to = std::max(item.from, Last());
    }
    CARILLON_TRY(ParseStep(item));
    return item;
  }

  // nL, before the L.
  Result<CronItem> ParseDayOrLast(int day) {
    if (day <= kDaysOfEveryMonth)
      return Fail(fmt::format("every month has a day {0}; write {0}", day));
    ++pos_;
    return Movable({.kind = CronItemKind::kDayOrLast, .n = day});
  }

  Status ParseRangeEnd(size_t first, CronItem& item) {
    ++pos_;
    const bool named_sunday = is_day_of_week() && Rest().starts_with("SUN");
    CARILLON_ASSIGN_OR_RETURN(item.to, ParseValue());
    if (named_sunday && item.from > 0) item.to = kSundayAtTheEnd;
    if (item.from > item.to) {
      pos_ = first;
      return Fail(fmt::format("the range {}-{} runs backwards; write two, e.g. {}-{},{}-{}",
                              item.from, item.to, item.from, Last(), bounds_.least, item.to));
    }
    return {};
  }

  Status ParseStep(CronItem& item) {
    if (!Take('/')) return {};
    const int values = Last() - bounds_.least + 1;
    if (is_day_of_month() && Peek() == 'L') {
      return Fail("a number is missing; 30L is day 30, or the last day of a shorter month");
    }
    CARILLON_ASSIGN_OR_RETURN(item.step, ParseNumber(1, values));
    return {};
  }

  Result<int> ParseValue() {
    if (IsDigit(Peek())) return ParseNumber(bounds_.least, bounds_.most);
    if (unit_ == CronUnit::kMonth) return ParseNamed(kMonthNames.data(), kMonthNames.size(), 1);
    if (is_day_of_week()) return ParseNamed(kDayNames.data(), kDayNames.size(), 0);
    if (pos_ == end_) return Fail("a value is missing");
    return Unexpected();
  }

  Result<int> ParseNamed(const std::string_view* names, size_t count, int first) {
    const auto* found = std::find(names, names + count, Rest().substr(0, kNameLength));
    if (found == names + count) {
      if (pos_ == end_) return Fail("a value is missing");
      const std::string_view unit = is_day_of_week() ? "weekday" : "month";
      return Fail(fmt::format("unknown {} {} (use {}–{} or {}–{})", unit, Quoted(Rest()), names[0],
                              names[count - 1], bounds_.least, bounds_.most));
    }
    pos_ += kNameLength;
    return first + static_cast<int>(found - names);
  }

  Result<int> ParseNumber(int least, int most) {
    const size_t first = pos_;
    int value = 0;
    while (IsDigit(Peek()) && pos_ - first < kDigitsMax) value = value * 10 + (text_[pos_++] - '0');
    const bool too_long = IsDigit(Peek());
    const bool missing = pos_ == first;
    const std::string_view digits = text_.substr(first, pos_ - first);
    if (!missing && !too_long && value >= least && value <= most) return value;
    pos_ = first;
    if (missing) return Fail("a number is missing");
    if (too_long) return Fail(fmt::format("a number has at most {} digits", kDigitsMax));
    return Fail(fmt::format("{} is out of range ({}–{})", digits, least, most));
  }

  const std::string_view text_;
  size_t pos_;
  const size_t end_;
  const CronUnit unit_;
  const CronBounds bounds_;
  const uint64_t spread_;
};

std::vector<Span> SplitFields(std::string_view text) {
  std::vector<Span> fields;
  size_t pos = 0;
  while (true) {
    while (pos < text.size() && IsBlank(text[pos])) ++pos;
    if (pos == text.size()) return fields;
    const size_t begin = pos;
    while (pos < text.size() && !IsBlank(text[pos])) ++pos;
    fields.push_back({begin, pos});
  }
}

Result<std::string_view> ExpandMacro(std::string_view text, const Span& span) {
  const std::string_view name = text.substr(span.begin, span.end - span.begin);
  for (const Macro& macro : kMacros) {
    if (macro.name == name) return macro.text;
  }
  return Bad("unknown macro " + Quoted(name) + " (use e.g. @daily)");
}

bool FieldUsesCalendar(const CronField& field) {
  return std::any_of(field.items.begin(), field.items.end(), [](const CronItem& item) {
    return item.move != CronMove::kNone || item.kind == CronItemKind::kNthInCalendar;
  });
}

bool AllowsEveryDay(const CronField& field, CronUnit unit) {
  const int last = unit == CronUnit::kDayOfWeek ? 6 : BoundsOf(unit).most;
  return field.starred && field.items.size() == 1 && field.items[0].step == 1 &&
         field.items[0].to == last;
}

// A day that moves has left what the other day field says about it.
Status CheckCalendarDays(const CronExpression& expression) {
  for (const auto& [unit, other] : {std::pair(CronUnit::kDayOfMonth, CronUnit::kDayOfWeek),
                                    std::pair(CronUnit::kDayOfWeek, CronUnit::kDayOfMonth)}) {
    if (!FieldUsesCalendar(expression.field(unit))) continue;
    if (AllowsEveryDay(expression.field(other), other)) continue;
    return Bad(fmt::format("{}: must be * or ?, because {} has '<', '>' or 'C'",
                           BoundsOf(other).name, BoundsOf(unit).name));
  }
  return {};
}

Result<CronExpression> ParseFields(std::string_view text, const std::vector<Span>& spans,
                                   uint64_t spread) {
  CronExpression expression{.has_seconds = spans.size() > 5, .fields = {}};
  size_t unit = 0;
  if (!expression.has_seconds) expression.fields[unit++].items.push_back({.from = 0, .to = 0});
  for (const Span& span : spans) {
    FieldParser parser(text, span, static_cast<CronUnit>(unit), spread);
    CARILLON_ASSIGN_OR_RETURN(expression.fields[unit++], parser.Parse());
  }
  CARILLON_TRY(CheckCalendarDays(expression));
  CronField& years = expression.fields[static_cast<size_t>(CronUnit::kYear)];
  const bool every =
      years.starred &&
      std::any_of(years.items.begin(), years.items.end(), [](const CronItem& item) {
        return item.from == kCronYearFirst && item.to == kCronYearLast && item.step == 1;
      });
  if (every) years = {};
  expression.has_years = !years.items.empty();
  return expression;
}

// Formats an item. With `starred`, an item that spans its field becomes '*'; FormatCron passes the
// field's flag.
std::string FormatUnmoved(const CronItem& item, CronUnit unit, bool starred) {
  switch (item.kind) {
    case CronItemKind::kLastDay: return item.n == 0 ? "L" : fmt::format("L-{}", item.n);
    case CronItemKind::kDayOrLast: return fmt::format("{}L", item.n);
    case CronItemKind::kLastWorkday: return item.n == 0 ? "LW" : fmt::format("L-{}W", item.n);
    case CronItemKind::kNearestWorkday: return fmt::format("{}W", item.n);
    case CronItemKind::kWorkdays: return "W";
    case CronItemKind::kLastWeekday: return fmt::format("{}L", item.from);
    case CronItemKind::kNthWeekday: return fmt::format("{}#{}", item.from, item.n);
    case CronItemKind::kNthInCalendar: return fmt::format("C#{}", item.n);
    case CronItemKind::kValues: break;
  }
  const CronBounds bounds = BoundsOf(unit);
  const int last = unit == CronUnit::kDayOfWeek ? 6 : bounds.most;
  // A single value with a step ("5-5/2") keeps its range: "5/2" would run to the field's end.
  const bool single = item.from == item.to && item.step == 1;
  std::string text = single ? std::to_string(item.from) : fmt::format("{}-{}", item.from, item.to);
  if (starred && item.from == bounds.least && item.to == last) text = "*";
  if (item.step != 1) text += fmt::format("/{}", item.step);
  return text;
}

std::string FormatItem(const CronItem& item, CronUnit unit, bool starred) {
  const std::string text = FormatUnmoved(item, unit, starred);
  if (item.move == CronMove::kNone) return text;
  return text + (item.move == CronMove::kPrevious ? '<' : '>');
}

}  // namespace

CronBounds BoundsOf(CronUnit unit) { return kBounds[static_cast<size_t>(unit)]; }

int SpreadMost(CronUnit unit) {
  if (unit == CronUnit::kDayOfMonth) return kDaysOfEveryMonth;
  return unit == CronUnit::kDayOfWeek ? kSundayAtTheEnd - 1 : BoundsOf(unit).most;
}

bool UsesSpread(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != 'H' && text[i] != 'h') continue;
    if (i == 0 || IsBlank(text[i - 1]) || text[i - 1] == ',') return true;
  }
  return false;
}

size_t CronFieldCount(std::string_view text) { return SplitFields(text).size(); }

bool UsesCalendarDays(const CronExpression& expression) {
  return FieldUsesCalendar(expression.field(CronUnit::kDayOfMonth)) ||
         FieldUsesCalendar(expression.field(CronUnit::kDayOfWeek));
}

bool UsesNewCronForm(std::string_view text) {
  if (CronFieldCount(text) > 6) return true;
  const auto parsed = ParseCron(text);
  if (!parsed.ok()) return false;
  if (UsesCalendarDays(*parsed)) return true;
  const auto& days = parsed->field(CronUnit::kDayOfMonth).items;
  return std::any_of(days.begin(), days.end(),
                     [](const CronItem& item) { return item.kind == CronItemKind::kDayOrLast; });
}

Result<CronExpression> ParseCron(std::string_view text, uint64_t spread) {
  if (text.size() > kCronTextBytesMax) {
    return Bad(fmt::format("the cron expression has {} bytes; at most {} are allowed", text.size(),
                           kCronTextBytesMax));
  }
  auto expression = ParsePlainCron(text, spread);
  if (expression.ok()) return expression;
  if (std::string way = WayToSay(text); !way.empty()) return Bad(std::move(way));
  const std::string five = WithYearLast(text);
  if (five.empty()) return expression;
  return Bad(fmt::format("{}; if the last field is the year (EventBridge, Nomad), write {}",
                         expression.error().message, five));
}

Result<CronExpression> ParsePlainCron(std::string_view text, uint64_t spread) {
  std::string upper = AsciiUpper(text);
  std::vector<Span> spans = SplitFields(upper);
  if (spans.empty())
    return Bad("the cron expression is empty; use 5 fields, 6 with seconds, or e.g. @daily");
  if (upper[spans[0].begin] == '@' && spans.size() == 1) {
    CARILLON_ASSIGN_OR_RETURN(const std::string_view expansion, ExpandMacro(upper, spans[0]));
    upper = expansion;
    spans = SplitFields(upper);
  }
  if (upper.find('=') != std::string::npos) {
    return Bad("the cron expression contains a setting such as TZ=; use time_zone instead");
  }
  if (spans.size() < 5 || spans.size() > 7) {
    return Bad(fmt::format(
        "the cron expression has {} field{}; use 5 (minute hour day month weekday), 6 with the "
        "second first, or 7 with the year last",
        spans.size(), spans.size() == 1 ? "" : "s"));
  }
  return ParseFields(upper, spans, spread);
}

std::string FormatCron(const CronExpression& expression) {
  std::string text;
  const size_t end = expression.fields.size() - (expression.has_years ? 0 : 1);
  for (size_t i = expression.has_seconds ? 0 : 1; i < end; ++i) {
    if (!text.empty()) text += ' ';
    const CronField& field = expression.fields[i];
    for (size_t k = 0; k < field.items.size(); ++k) {
      if (k != 0) text += ',';
      text += FormatItem(field.items[k], static_cast<CronUnit>(i), field.starred);
    }
  }
  return text;
}

}  // namespace carillon
