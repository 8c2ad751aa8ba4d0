#include "common/imports/crontab_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "common/base/ascii.h"
#include "common/domain/cron/cron.h"

namespace carillon {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 8> kDays{"sun", "mon", "tue", "wed",
                                                "thu", "fri", "sat", "sun"};
constexpr int kFields = 5;
constexpr size_t kDigitsMax = 4;       // of a number that both read
constexpr int kNumberMax = 1'000'000;  // greater ones are out of range all the same
constexpr int64_t kDelayMaxSeconds = 31'536'000;

struct Macro {
  std::string_view name;
  std::string_view expression;
  bool by_hour;  // as an hour that begins with '*'
};
constexpr std::array<Macro, 9> kMacros{{{"@yearly", "@yearly", false},
                                        {"@annually", "@annually", false},
                                        {"@monthly", "@monthly", false},
                                        {"@weekly", "@weekly", false},
                                        {"@daily", "@daily", false},
                                        {"@midnight", "@midnight", false},
                                        {"@hourly", "@hourly", true},
                                        {"@every_minute", "* * * * *", true},
                                        {"@every_second", "* * * * * *", true}}};

Error Bad(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool IsAlnum(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Field {
  bool starred = false;  // begins with '*'
  bool spread = false;   // has a random part
  uint64_t values = 0;   // bit n: value n; without the random parts
  std::string text;      // in Carillon's words
};

// Reads one field. Each item is written as it stands, unless Carillon would read it differently.
class FieldReader {
 public:
  FieldReader(std::string_view text, CronUnit unit)
      : text_(text), rest_(text), unit_(unit), bounds_(BoundsOf(unit)) {}

  Result<Field> Read() {
    field_.starred = text_.starts_with('*');
    while (true) {
      CARILLON_TRY(ReadItem());
      if (rest_.empty()) return std::move(field_);
      if (!Take(',')) return Unreadable();
      field_.text += ',';
    }
  }

 private:
  struct Number {
    int value = 0;
    std::string_view text;
  };

  bool is_weekday() const { return unit_ == CronUnit::kDayOfWeek; }
  // The number of values of '*': 7 is another name of Sunday.
  int Count() const { return (is_weekday() ? 6 : bounds_.most) - bounds_.least + 1; }
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  Error Fail(std::string_view why) const { return Bad(fmt::format("{}: {}", bounds_.name, why)); }
  Error Unreadable() const { return Fail(fmt::format("cron cannot read '{}'", text_)); }

  std::string_view Names(size_t index) const {
    if (unit_ == CronUnit::kMonth && index < kMonths.size()) return kMonths[index];
    return is_weekday() && index < kDays.size() ? kDays[index] : std::string_view();
  }

  // A number, or a name of three letters.
  Result<Number> ReadNumber() {
    size_t length = 0;
    while (length < rest_.size() && IsAlnum(rest_[length])) ++length;
    Number number{.text = rest_.substr(0, length)};
    if (length == 0) return Unreadable();
    rest_.remove_prefix(length);
    if (std::all_of(number.text.begin(), number.text.end(), IsDigit)) {
      const char* end = number.text.data() + number.text.size();
      const auto read = std::from_chars(number.text.data(), end, number.value);
      if (read.ec != std::errc()) number.value = kNumberMax;
      number.value = std::min(number.value, kNumberMax);
      return number;
    }
    const std::string name = Lower(number.text);
    for (size_t i = 0; !Names(i).empty(); ++i) {
      if (Names(i) != name) continue;
      number.value = bounds_.least + static_cast<int>(i);
      return number;
    }
    return Unreadable();
  }

  // The step behind a '/'; 0 if there is none. No step is greater than the number of values, which
  // leaves the first value alone, as any greater one.
  Result<int> ReadStep() {
    if (!Take('/')) return 0;
    CARILLON_ASSIGN_OR_RETURN(const Number step, ReadNumber());
    if (!IsDigit(step.text.front())) return Unreadable();
    if (step.value == 0) return Fail("the step is 0");
    return std::min(step.value, Count());
  }

  Status ReadItem() {
    const std::string_view item = rest_;
    if (Take('*')) {
      CARILLON_ASSIGN_OR_RETURN(const int step, ReadStep());
      Add(bounds_.least, bounds_.most, step);
      field_.text += '*' + Step(step);
      return {};
    }
    if (rest_.starts_with('~')) return ReadRandom({.value = bounds_.least});
    CARILLON_ASSIGN_OR_RETURN(const Number from, ReadNumber());
    if (rest_.starts_with('~')) return ReadRandom(from);
    if (Take('-')) return ReadRange(item, from);
    if (rest_.starts_with('/')) {
      return Fail(fmt::format(
          "cron ignores or refuses a step after a single number; write the range, e.g. {}-{}{}",
          from.text, bounds_.most, rest_.substr(0, rest_.find(','))));
    }
    CARILLON_TRY(CheckValue(from));
    Add(from.value, from.value, 1);
    field_.text += Spelled(from);
    return {};
  }

  Status CheckValue(const Number& number) const {
    if (number.value >= bounds_.least && number.value <= bounds_.most) return {};
    return Fail(
        fmt::format("{} is out of range ({}–{})", number.text, bounds_.least, bounds_.most));
  }

  // From, and the end and the step behind the '-'.
  Status ReadRange(std::string_view item, const Number& from) {
    CARILLON_ASSIGN_OR_RETURN(Number to, ReadNumber());
    const bool repeats = rest_.starts_with('/');
    CARILLON_ASSIGN_OR_RETURN(const int step, ReadStep());
    // "5-0" is Friday to Sunday, unless a step follows.
    const bool to_sunday = is_weekday() && from.value > 0 && to.value == 0 && !repeats;
    if (to_sunday) to.value = bounds_.most;
    if (from.value > to.value) {
      return Fail(fmt::format(
          "the range {} runs backwards, so cron never reaches it; write two, e.g. {}-{},{}-{}",
          item.substr(0, item.find(',')), from.text, bounds_.most, bounds_.least, to.text));
    }
    CARILLON_TRY(CheckValue(from));
    // cron looks at the values, not at the end.
    const int width = std::max(step, 1);
    const int last = from.value + (to.value - from.value) / width * width;
    if (last > bounds_.most) CARILLON_TRY(CheckValue(to));
    const bool beyond = to.value > bounds_.most;
    to.value = std::min(to.value, bounds_.most);
    Add(from.value, to.value, step);
    const bool rewritten = beyond || (to_sunday && IsDigit(to.text.front()));
    field_.text +=
        Spelled(from) + '-' + (rewritten ? std::to_string(to.value) : Spelled(to)) + Step(step);
    return {};
  }

  // The '~' behind `from`, its end and its step.
  Status ReadRandom(const Number& from) {
    rest_.remove_prefix(1);
    Number to{.value = bounds_.most};
    if (!rest_.empty() && IsAlnum(rest_.front())) {
      CARILLON_ASSIGN_OR_RETURN(to, ReadNumber());
    }
    CARILLON_ASSIGN_OR_RETURN(const int step, ReadStep());
    if (!from.text.empty()) CARILLON_TRY(CheckValue(from));
    if (!to.text.empty()) CARILLON_TRY(CheckValue(to));
    if (from.value > to.value) {
      return Fail(fmt::format("the random range {}~{} runs backwards", from.text, to.text));
    }
    field_.spread = true;
    field_.text += 'H';
    // A plain H leaves out days that not every month has.
    const bool whole = from.text.empty() && to.text.empty();
    if (!whole || (step > 0 && SpreadMost(unit_) != bounds_.most)) {
      field_.text += fmt::format("({}-{})", from.value, to.value);
    }
    field_.text += Step(step);
    return {};
  }

  void Add(int from, int to, int step) {
    for (int value = from; value <= to; value += std::max(step, 1)) {
      field_.values |= uint64_t{1} << (is_weekday() ? value % 7 : value);
    }
  }
  static std::string Step(int step) { return step == 0 ? "" : fmt::format("/{}", step); }
  static std::string Spelled(const Number& number) {
    return number.text.size() > kDigitsMax ? std::to_string(number.value)
                                           : std::string(number.text);
  }

  const std::string_view text_;
  std::string_view rest_;
  const CronUnit unit_;
  const CronBounds bounds_;
  Field field_;
};

// Writes the values as ranges, for a list that is too long.
std::string Ranges(const Field& field) {
  if (field.spread || field.starred) return field.text;
  std::string text;
  for (int value = 0; value < 64; ++value) {
    if (((field.values >> value) & 1) == 0) continue;
    const int length = std::countr_one(field.values >> value);
    if (!text.empty()) text += ',';
    text += std::to_string(value);
    if (length > 1) text += fmt::format("-{}", value + length - 1);
    value += length;
  }
  return text;
}

constexpr uint64_t kEveryMinute = (uint64_t{1} << 60) - 1;
constexpr uint64_t kEveryHour = (uint64_t{1} << 24) - 1;

void SetClockChanges(const Field& minute, const Field& hour, CrontabTimes& times) {
  if (minute.starred || hour.starred) {
    // A fire that the gap moves to its end falls on another fire: clocks jump to :00 or :30.
    constexpr uint64_t kEnds = uint64_t{1} | uint64_t{1} << 30;
    const bool alike = hour.values == kEveryHour && (minute.values & kEnds) == kEnds;
    if (!alike) times.dst_gap = "skip";
    if (!hour.starred) times.dst_repeat = "both";
  } else if (minute.values == kEveryMinute || hour.values == kEveryHour) {
    times.dst_repeat = "early";
  }
}

Result<CrontabTimes> MacroTimes(std::string_view name) {
  for (const Macro& macro : kMacros) {
    if (macro.name != name) continue;
    CrontabTimes times{.expression = std::string(macro.expression)};
    if (name == "@hourly") times.dst_gap = "skip";
    return times;
  }
  const std::string_view digits = name.substr(1);
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), IsDigit)) {
    CrontabTimes times;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), times.delay_s);
    if (read.ec == std::errc() && times.delay_s > 0 && times.delay_s <= kDelayMaxSeconds) {
      return times;
    }
    return Bad(fmt::format("{}: the delay must be 1 to {} seconds", name, kDelayMaxSeconds));
  }
  if (name == "@reboot") return Bad("@reboot is not supported; use a systemd unit");
  const std::string lower = Lower(name);
  for (const Macro& macro : kMacros) {
    if (macro.name == lower)
      return Bad(fmt::format("cron does not know {}; write {}", name, lower));
  }
  return Bad(
      fmt::format("cron does not know {}; it knows @yearly, @monthly, @weekly, @daily and "
                  "@hourly",
                  name));
}

// Adds the way to say it, if Carillon alone can read the fields: "0 0 L * *".
Error WithAnswer(Error error, const std::array<std::string_view, kFields>& words) {
  const std::string expression = fmt::format("{}", fmt::join(words, " "));
  const bool meant = error.message.find("cannot read") != std::string::npos;
  if (meant && ParseCron(expression).ok()) {
    error.message += fmt::format("; for Carillon: carillon job create --cron '{}'", expression);
  }
  return error;
}

}  // namespace

std::string_view TakeCrontabWord(std::string_view& line) {
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(" \t", end), line.size()));
  return word;
}

Result<CrontabTimes> TakeCrontabTimes(std::string_view& line) {
  // A minus: cron does not log the start.
  if (line.starts_with('-')) line.remove_prefix(1);
  if (line.starts_with('@')) return MacroTimes(TakeCrontabWord(line));
  constexpr std::array kUnits{CronUnit::kMinute, CronUnit::kHour, CronUnit::kDayOfMonth,
                              CronUnit::kMonth, CronUnit::kDayOfWeek};
  std::array<std::string_view, kFields> words;
  for (std::string_view& word : words) {
    word = TakeCrontabWord(line);
    if (word.empty()) return Bad("neither a setting nor five schedule fields and a command");
  }
  CrontabTimes times;
  std::array<Field, kFields> fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    auto field = FieldReader(words[i], kUnits[i]).Read();
    if (!field.ok()) return WithAnswer(field.error(), words);
    fields[i] = *std::move(field);
    times.expression += (i == 0 ? "" : " ") + fields[i].text;
  }
  if (times.expression.size() > kCronTextBytesMax) {
    times.expression.clear();
    for (const Field& field : fields) {
      times.expression += (times.expression.empty() ? "" : " ") + Ranges(field);
    }
  }
  SetClockChanges(fields[0], fields[1], times);
  return times;
}

}  // namespace carillon
