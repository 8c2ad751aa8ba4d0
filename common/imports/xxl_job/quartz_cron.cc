#include "common/imports/xxl_job/quartz_cron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "common/base/ascii.h"
#include "common/domain/cron/cron.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::array<std::string_view, 7> kQuartzDays{"SUN", "MON", "TUE", "WED",
                                                      "THU", "FRI", "SAT"};
constexpr std::array<std::string_view, 12> kQuartzMonths{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                         "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr size_t kQuartzNameLength = 3;
constexpr int kQuartzYearLast = 2199;
constexpr int kShortestMonth = 28;

struct QuartzBounds {
  int least;
  int most;
  int step;  // the greatest
  std::string_view name;
};
// In the order of CronUnit.
constexpr std::array<QuartzBounds, 7> kQuartzBounds{
    {{0, 59, 59, "seconds"},
     {0, 59, 59, "minutes"},
     {0, 23, 23, "hours"},
     {1, 31, 31, "day of month"},
     {1, 12, 12, "month"},
     {1, 7, 7, "day of week"},
     {kCronYearFirst, kQuartzYearLast, kQuartzYearLast - kCronYearFirst, "year"}}};

Error NotQuartz(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

std::vector<std::string_view> QuartzParts(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return parts;
    const size_t end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Converts one field.
class QuartzField {
 public:
  QuartzField(std::string_view text, CronUnit unit, std::vector<std::string>& remarks)
      : text_(text),
        unit_(unit),
        bounds_(kQuartzBounds.at(static_cast<size_t>(unit))),
        remarks_(remarks) {}

  Result<std::string> Convert() {
    const bool day = is_days() || is_weekdays();
    if (text_ == "?") return day ? Result<std::string>("*") : Result<std::string>(Fail());
    const auto items = QuartzParts(text_, ",");
    if (items.empty()) return Fail();
    std::string converted;
    for (const std::string_view item : items) {
      rest_ = item;
      special_ = false;
      CARILLON_ASSIGN_OR_RETURN(const std::string one, ConvertItem());
      if (!rest_.empty()) return Fail();
      if (special_ && items.size() > 1) {
        return NotQuartz(
            fmt::format("{}: Quartz reads a list with L, W or # in another way than it looks: {}",
                        bounds_.name, text_));
      }
      if (one == "*") return one;
      if (one.empty()) continue;  // years behind the last one of Carillon
      converted += (converted.empty() ? "" : ",") + one;
    }
    if (converted.empty()) {
      return NotQuartz(fmt::format("year: {} is later than {}", text_, kCronYearLast));
    }
    if (numbered_) {
      remarks_.push_back(fmt::format("Quartz numbers the weekdays from 1 = Sunday: {} is {} here",
                                     text_, converted));
    }
    return converted;
  }

 private:
  bool is_days() const { return unit_ == CronUnit::kDayOfMonth; }
  bool is_weekdays() const { return unit_ == CronUnit::kDayOfWeek; }
  bool is_months() const { return unit_ == CronUnit::kMonth; }

  Error Fail() const {
    return NotQuartz(fmt::format("{}: Quartz cannot read {}", bounds_.name, text_));
  }

  bool Take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  std::optional<int> TakeNumber() {
    int value = 0;
    const char* begin = rest_.data();
    const auto read = std::from_chars(begin, begin + rest_.size(), value);
    if (rest_.empty() || !IsDigit(rest_.front()) || read.ec != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(read.ptr - begin));
    return value;
  }

  std::optional<int> TakeValue() {
    const auto value = TakeNumber();
    if (!value || *value < bounds_.least || *value > bounds_.most) return std::nullopt;
    return value;
  }

  // A name of a month or weekday, as its number.
  std::optional<int> TakeName() {
    if (rest_.size() < kQuartzNameLength) return std::nullopt;
    const auto find = [this](const auto& names) -> std::optional<int> {
      const auto* found = std::find(names.begin(), names.end(), rest_.substr(0, kQuartzNameLength));
      if (found == names.end()) return std::nullopt;
      rest_.remove_prefix(kQuartzNameLength);
      return static_cast<int>(found - names.begin()) + 1;
    };
    if (is_weekdays()) return find(kQuartzDays);
    return is_months() ? find(kQuartzMonths) : std::nullopt;
  }

  std::string Text(int value) const {
    if (is_weekdays()) return std::string(kQuartzDays.at(static_cast<size_t>(value - 1)));
    return std::to_string(value);
  }

  Result<std::string> ConvertItem() {
    if (rest_ == "*") return TakeAll();
    if (Take("*/") || Take("/")) return ConvertEvery();
    if (is_days() && rest_.starts_with('L')) return ConvertLast();
    if (is_weekdays() && Take("L")) return Text(7);
    if (const auto name = TakeName()) return ConvertNamed(*name);
    const auto from = TakeValue();
    if (!from) return Fail();
    if (is_weekdays()) numbered_ = true;
    if (is_days() && Take("W")) {
      special_ = true;
      if (*from > kShortestMonth) {
        remarks_.push_back(fmt::format(
            "in a month without a day {0}, Quartz moves {0}W to the next month; here it is left "
            "out",
            *from));
      }
      return fmt::format("{}W", *from);
    }
    if (is_weekdays() && (rest_.starts_with('L') || rest_.starts_with('#'))) {
      return ConvertOneOf(*from);
    }
    if (Take("-")) {
      const auto to = TakeValue();
      if (!to) return Fail();
      CARILLON_ASSIGN_OR_RETURN(const int step, TakeStep());
      return ConvertRange(*from, *to, step);
    }
    if (!rest_.starts_with('/')) return ConvertRange(*from, *from, 1);
    CARILLON_ASSIGN_OR_RETURN(const int step, TakeStep());
    return ConvertRange(*from, step == 0 ? *from : bounds_.most, step);
  }

  std::string TakeAll() {
    rest_ = {};
    return "*";
  }

  // Behind "*/": a step of 0 is one of 1.
  Result<std::string> ConvertEvery() {
    const auto step = TakeNumber();
    if (!step || *step > bounds_.step) return Fail();
    return *step <= 1 ? std::string("*") : fmt::format("*/{}", *step);
  }

  // "/n" behind a value or a range; 1 without it. A step of 0 leaves the first value alone.
  Result<int> TakeStep() {
    if (!Take("/")) return 1;
    const auto step = TakeNumber();
    if (!step || *step > bounds_.step) return Fail();
    return *step;
  }

  // L, L-n, LW, L-nW.
  Result<std::string> ConvertLast() {
    special_ = true;
    Take("L");
    std::string last = "L";
    if (Take("-")) {
      constexpr int kOffsetMax = 30;
      const auto offset = TakeNumber();
      if (!offset || *offset > kOffsetMax) return Fail();
      if (*offset > 0) last += fmt::format("-{}", *offset);
    }
    return Take("W") ? last + "W" : last;
  }

  // 6L and 6#3, also behind a name.
  Result<std::string> ConvertOneOf(int weekday) {
    special_ = true;
    if (Take("L")) return Text(weekday) + "L";
    Take("#");
    const auto nth = TakeNumber();
    if (!nth || *nth < 1 || *nth > 5) return Fail();
    return fmt::format("{}#{}", Text(weekday), *nth);
  }

  Result<std::string> ConvertNamed(int from) {
    int to = from;
    if (is_weekdays() && (rest_.starts_with('L') || rest_.starts_with('#'))) {
      return ConvertOneOf(from);
    }
    if (Take("-")) {
      const auto end = TakeName();
      if (!end) return Fail();
      to = *end;
    }
    if (rest_.starts_with('/')) {
      remarks_.push_back(
          fmt::format("Quartz ignores a step behind a name, so {} has none here", text_));
      rest_ = {};
    }
    return ConvertRange(from, to, 1);
  }

  // A range that runs backwards goes on behind the end of its field.
  Result<std::string> ConvertRange(int from, int to, int step) {
    if (step == 0) to = from;
    if (from > to) return ConvertWrapped(from, to, std::max(step, 1));
    if (unit_ == CronUnit::kYear) {
      if (from > kCronYearLast) return std::string();
      to = std::min(to, kCronYearLast);
    }
    const bool to_the_end = !is_weekdays() && to == bounds_.most && step > 1;
    if (to_the_end && from + step <= to) return fmt::format("{}/{}", from, step);
    return Values(from, to, step);
  }

  Result<std::string> ConvertWrapped(int from, int to, int step) {
    if (unit_ == CronUnit::kYear) return Fail();
    const int count = bounds_.most - bounds_.least + 1;
    const int steps = (bounds_.most - from) / step + 1;
    const int next = from + steps * step - count;  // the first one behind the end
    std::string text = Values(from, bounds_.most, step);
    if (next <= to) text += "," + Values(next, to, step);
    return text;
  }

  // A range that does not run backwards.
  std::string Values(int from, int to, int step) const {
    std::string text = Text(from);
    if (from + step > to) return text;
    text += "-" + Text(to);
    return step > 1 ? text + fmt::format("/{}", step) : text;
  }

  const std::string_view text_;
  const CronUnit unit_;
  const QuartzBounds bounds_;
  std::vector<std::string>& remarks_;
  std::string_view rest_;  // of the item
  bool special_ = false;   // the item has L, W or #
  bool numbered_ = false;  // the field has the number of a weekday
};

}  // namespace

Result<QuartzCron> ConvertQuartzCron(std::string_view text) {
  if (text.size() > kCronTextBytesMax) return NotQuartz("the cron expression is too long");
  const std::string upper = AsciiUpper(text);
  const auto fields = QuartzParts(upper, " \t");
  if (fields.size() != 6 && fields.size() != 7) {
    return NotQuartz(
        fmt::format("the cron expression has {} fields; Quartz has 6 or 7", fields.size()));
  }
  const auto is_free = [&fields](CronUnit unit) {
    return fields[static_cast<size_t>(unit)] == "?";
  };
  if (is_free(CronUnit::kDayOfMonth) == is_free(CronUnit::kDayOfWeek)) {
    return NotQuartz("Quartz needs ? in exactly one of the two day fields");
  }
  QuartzCron converted;
  std::vector<std::string> texts;
  for (size_t i = 0; i < fields.size(); ++i) {
    CARILLON_ASSIGN_OR_RETURN(
        texts.emplace_back(),
        QuartzField(fields[i], static_cast<CronUnit>(i), converted.remarks).Convert());
  }
  if (texts.size() > 6 && texts.back() == "*") texts.pop_back();
  if (texts.size() == 6 && texts.front() == "0") texts.erase(texts.begin());
  converted.expression = fmt::format("{}", fmt::join(texts, " "));
  if (const auto valid = ParseCron(converted.expression); !valid.ok()) return valid.error();
  return converted;
}

}  // namespace carillon
