#include "common/domain/cron/cron_dialects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/time.h"
#include "common/domain/cron/cron.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::array<std::string_view, 7> kWeekdays{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};
constexpr int64_t kMsMax = 315'360'000'000;  // the longest interval of a rate: ten years

struct LengthUnit {
  std::string_view name;
  int64_t ms;
};
// Longer names first, so that "ms" is not read as minutes.
constexpr std::array<LengthUnit, 17> kLengthUnits{{{"milliseconds", 1},
                                                   {"seconds", 1'000},
                                                   {"second", 1'000},
                                                   {"secs", 1'000},
                                                   {"sec", 1'000},
                                                   {"minutes", 60'000},
                                                   {"minute", 60'000},
                                                   {"mins", 60'000},
                                                   {"min", 60'000},
                                                   {"hours", 3'600'000},
                                                   {"hour", 3'600'000},
                                                   {"days", 86'400'000},
                                                   {"day", 86'400'000},
                                                   {"weeks", 604'800'000},
                                                   {"week", 604'800'000},
                                                   {"ms", 1},
                                                   {"hrs", 3'600'000}}};

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string> WordsOf(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

// The text in quotes, printable and not too long.
std::string ShownText(std::string_view text) {
  constexpr size_t kShownMax = 40;
  std::string shown;
  for (const char c : text.substr(0, kShownMax)) shown += c < 0x20 || c > 0x7E ? '.' : c;
  return "'" + shown + (text.size() > kShownMax ? "...'" : "'");
}

// The text between `prefix` and `suffix`; nullopt if it has another form.
std::optional<std::string_view> Between(std::string_view text, std::string_view prefix,
                                        std::string_view suffix) {
  const bool fits = text.size() >= prefix.size() + suffix.size() && text.starts_with(prefix) &&
                    text.ends_with(suffix);
  if (!fits) return std::nullopt;
  return WithoutBlanks(text.substr(prefix.size(), text.size() - prefix.size() - suffix.size()));
}

std::optional<int64_t> TakeNumber(std::string_view& text) {
  constexpr size_t kDigits = 12;
  size_t digits = 0;
  int64_t number = 0;
  while (digits < text.size() && IsDigit(text[digits])) {
    if (digits == kDigits) return std::nullopt;
    number = number * 10 + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

int64_t MsOf(std::string_view unit) {
  if (unit == "s") return 1'000;
  if (unit == "m") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  if (unit == "w") return 604'800'000;
  const auto* found = std::find_if(kLengthUnits.begin(), kLengthUnits.end(),
                                   [unit](const LengthUnit& one) { return one.name == unit; });
  return found == kLengthUnits.end() ? 0 : found->ms;
}

// "5m", "1h30m", "90 seconds", "5 minutes", "minute", in lower case. 0 if it is none of them, or
// out of the range of a rate.
int64_t ReadLength(std::string_view text) {
  if (const int64_t one = MsOf(text); one > 1 && text.size() > 1) return one;
  int64_t total = 0;
  text = WithoutBlanks(text);
  while (!text.empty()) {
    const auto number = TakeNumber(text);
    text = WithoutBlanks(text);
    size_t letters = 0;
    while (letters < text.size() && IsLetter(text[letters])) ++letters;
    const int64_t ms = MsOf(text.substr(0, letters));
    if (!number || ms == 0 || *number > kMsMax / ms) return 0;
    total += *number * ms;
    text = WithoutBlanks(text.substr(letters));
  }
  return total > kMsMax ? 0 : total;
}

// "1d", "90m", "1500ms", as the flags of the CLI take them.
std::string ShortLength(int64_t ms) {
  constexpr std::array<LengthUnit, 4> kShort{
      {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}}};
  for (const LengthUnit& unit : kShort) {
    if (ms % unit.ms == 0) return fmt::format("{}{}", ms / unit.ms, unit.name);
  }
  return fmt::format("{}ms", ms);
}

std::string UseRate(int64_t ms) {
  if (ms <= 0) return "use a rate schedule, e.g. every_ms 300000, --every 5m, for five minutes";
  return fmt::format("use a rate schedule: every_ms {}, --every {}", ms, ShortLength(ms));
}

std::string UseDelay(int64_t ms) {
  return fmt::format("use a delay schedule: every_ms {}, --delay {}", ms, ShortLength(ms));
}

std::string UseOnce(std::string_view at) {
  if (!ParseRfc3339(at).ok())
    return "use a once schedule: at with an offset, e.g. 2026-03-01T02:00:00Z";
  return fmt::format("use a once schedule: at {0}, --at {0}", at);
}

constexpr std::string_view kUseFields =
    "write minute hour day month weekday, e.g. 0 9 * * MON-FRI for 09:00 from Monday to Friday";

// "write 0 10 * * *" if the expression is valid.
std::string UseCron(const std::string& expression) {
  if (!ParsePlainCron(expression).ok()) return std::string(kUseFields);
  return "write '" + expression + "'";
}

std::string InOneLine(const std::vector<std::string>& fields) {
  return fmt::format("{}", fmt::join(fields, " "));
}

// Five fields in the order of EventBridge and the year, as an expression of this language.
std::string FromYearLast(std::vector<std::string> fields) {
  const bool marked = fields[2] == "?" || fields[4] == "?";
  if (marked && !NamedWeekdays(fields[4]).empty()) fields[4] = NamedWeekdays(fields[4]);
  for (std::string& field : fields) {
    if (field == "?") field = "*";
  }
  if (fields[5] != "*") return "0 " + InOneLine(fields);
  fields.pop_back();
  return InOneLine(fields);
}

// ---- the dialects: each returns the way to say it, or nothing ---------------------------------

using WayOrNone = std::optional<std::string>;

// robfig/cron, Dkron, Nomad, App Engine: "@every 1h30m", "every 5 minutes"; and a bare "5m".
WayOrNone OfEvery(std::string_view text) {
  for (const std::string_view prefix : {"@every", "every "}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view rest = WithoutBlanks(text.substr(prefix.size()));
    if (rest.starts_with("_")) return std::nullopt;
    const int64_t ms = ReadLength(rest);
    if (ms == 0 && prefix == "every ") return std::string(kUseFields);
    return UseRate(ms);
  }
  const int64_t ms = IsDigit(text.front()) ? ReadLength(text) : 0;
  if (ms == 0) return std::nullopt;
  return UseRate(ms);
}

// FreeBSD: "@600" is 600 seconds after the end of the last run.
WayOrNone OfSeconds(std::string_view text) {
  if (!text.starts_with("@")) return std::nullopt;
  text.remove_prefix(1);
  const auto seconds = TakeNumber(text);
  if (!seconds || !text.empty() || *seconds == 0 || *seconds > kMsMax / 1'000) return std::nullopt;
  return UseDelay(*seconds * 1'000);
}

WayOrNone OfManual(std::string_view text) {
  for (const std::string_view name :
       {"@manually", "@manual", "@never", "@none", "manual", "never", "none", "null", "-"}) {
    if (text == name) return "leave the schedules out: a job without any runs only when started";
  }
  return std::nullopt;
}

WayOrNone OfReboot(std::string_view text) {
  if (text != "@reboot" && text != "@startup") return std::nullopt;
  return "jobs do not belong to one machine, so nothing starts them at its boot";
}

struct NamedTime {
  std::string_view name;
  std::string_view cron;
};
constexpr std::array<NamedTime, 20> kNamedTimes{{{"@every_minute", "* * * * *"},
                                                 {"@minutely", "* * * * *"},
                                                 {"minutely", "* * * * *"},
                                                 {"@every_second", "* * * * * *"},
                                                 {"@secondly", "* * * * * *"},
                                                 {"hourly", "0 * * * *"},
                                                 {"daily", "0 0 * * *"},
                                                 {"midnight", "0 0 * * *"},
                                                 {"weekly", "0 0 * * MON"},
                                                 {"monthly", "0 0 1 * *"},
                                                 {"yearly", "0 0 1 1 *"},
                                                 {"annually", "0 0 1 1 *"},
                                                 {"quarterly", "0 0 1 1,4,7,10 *"},
                                                 {"@quarterly", "0 0 1 1,4,7,10 *"},
                                                 {"semiannually", "0 0 1 1,7 *"},
                                                 {"@weekdays", "0 0 * * MON-FRI"},
                                                 {"@workdays", "0 0 * * MON-FRI"},
                                                 {"@weekend", "0 0 * * SAT,SUN"},
                                                 {"@weekends", "0 0 * * SAT,SUN"},
                                                 {"@noon", "0 12 * * *"}}};

WayOrNone OfName(std::string_view text) {
  for (const NamedTime& one : kNamedTimes) {
    if (one.name == text) return UseCron(std::string(one.cron));
  }
  if (text == "@once") return UseOnce("");
  if (text == "@continuous" || text == "@continuously") return UseDelay(1'000);
  return std::nullopt;
}

// robfig/cron and EventBridge: "@at 2026-03-01T02:00:00Z", "at(2026-03-01T02:00:00)"; and a time.
WayOrNone OfAt(std::string_view text) {
  const auto call = Between(text, "at(", ")");
  const auto macro = Between(text, "@at ", "");
  if (!call && !macro) {
    constexpr size_t kDate = 10;  // 2026-03-01
    const bool dated = text.size() > kDate &&
                       std::count(text.begin(), text.begin() + kDate, '-') == 2 &&
                       std::count_if(text.begin(), text.begin() + kDate, IsDigit) == 8;
    if (!dated) return std::nullopt;
    return UseOnce(AsciiUpper(text));
  }
  return UseOnce(AsciiUpper(call ? *call : *macro));
}

// EventBridge: "rate(5 minutes)".
WayOrNone OfRate(std::string_view text) {
  if (!text.starts_with("rate(") && !text.starts_with("rate (")) return std::nullopt;
  const auto inner = Between(text.substr(text.find('(')), "(", ")");
  return UseRate(inner ? ReadLength(*inner) : 0);
}

// EventBridge: "cron(0 10 ? * 2-6 *)", minute to weekday and the year.
WayOrNone OfCronCall(std::string_view text) {
  if (!text.starts_with("cron(") && !text.starts_with("cron (")) return std::nullopt;
  const auto inner = Between(text.substr(text.find('(')), "(", ")");
  if (!inner) return std::string(kUseFields);
  const std::vector<std::string> fields = WordsOf(AsciiUpper(*inner), " \t");
  if (fields.size() == 6) return UseCron(FromYearLast(fields));
  return UseCron(InOneLine(fields));
}

// ISO 8601: "P1D", "PT5M", "R/2026-03-01T02:00:00Z/PT1H".
WayOrNone OfIso(std::string_view text) {
  const bool repeats = text.front() == 'r' && text.find('/') != std::string_view::npos &&
                       text.find_first_not_of("0123456789", 1) == text.find('/');
  std::string_view length = text;
  if (repeats) length = text.substr(text.rfind('/') + 1);
  if (length.size() < 3 || length.front() != 'p') return std::nullopt;
  length.remove_prefix(1);
  if (!IsDigit(length.front()) && length.front() != 't') return std::nullopt;
  const size_t time = length.find('t');
  const std::string_view date = length.substr(0, std::min(time, length.size()));
  if (date.find_first_of("my") != std::string_view::npos) {
    return "a month or a year is not a fixed interval: write a cron expression, e.g. 0 0 1 * *";
  }
  const bool has_time = time != std::string_view::npos;
  const int64_t days = date.empty() ? 0 : ReadLength(date);
  const int64_t rest = has_time ? ReadLength(length.substr(time + 1)) : 0;
  const bool read = (date.empty() || days > 0) && (!has_time || rest > 0);
  const std::string start =
      repeats && text.find('/') + 1 < text.rfind('/') ? ", with start_time" : "";
  return UseRate(read ? days + rest : 0) + start;
}

// "TZ=Europe/Paris 0 2 * * *", also on a line of its own. `text` as it was written.
std::string OfZone(std::string_view text) {
  const size_t begin = text.find('=') + 1;
  const size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
  const std::string_view zone = text.substr(begin, end - begin);
  std::string_view rest = text.substr(end);
  while (!rest.empty() && (rest.front() == '\n' || rest.front() == ' ' || rest.front() == '\t')) {
    rest.remove_prefix(1);
  }
  return fmt::format("use time_zone {} and {}", ShownText(zone),
                     UseCron(std::string(WithoutBlanks(rest))));
}

// systemd: "Mon..Fri *-*-* 02:00:00". Both of its day parts must match, so it is translated only
// if one of them is free.
std::string FromSystemd(const std::vector<std::string>& words) {
  std::string weekdays = "*";
  std::vector<std::string> date{"*", "*", "*"};
  std::vector<std::string> time{"0", "0", "0"};
  std::string zone;
  std::set<std::string_view> kinds;  // of the words: each at most once
  for (std::string word : words) {
    for (size_t at = word.find(".."); at != std::string::npos; at = word.find("..")) {
      word.replace(at, 2, "-");
    }
    const bool is_time = word.find(':') != std::string::npos;
    const bool is_date = !is_time && std::count(word.begin(), word.end(), '-') >= 1 &&
                         (word[0] == '*' || IsDigit(word[0]));
    const bool is_zone =
        !is_time && !is_date && (word.find('/') != std::string::npos || word == "UTC");
    const bool is_weekday = !is_time && !is_date && !is_zone;
    const std::string_view kind = is_time ? "time" : is_date ? "date" : is_zone ? "zone" : "day";
    if (!kinds.insert(kind).second || (is_weekday && !IsLetter(word[0]))) {
      return std::string(kUseFields);
    }
    if (is_time) {
      time = WordsOf(word, ":");
      if (time.size() == 2) time.emplace_back("0");
    } else if (is_date) {
      date = WordsOf(word, "-");
      if (date.size() == 2) date.insert(date.begin(), "*");
    } else if (is_zone) {
      zone = word;
    } else {
      weekdays = word;
    }
  }
  const bool both = date.size() == 3 && date[2] != "*" && weekdays != "*";
  if (date.size() != 3 || time.size() != 3 || both) return std::string(kUseFields);
  for (std::vector<std::string>* part : {&date, &time}) {
    for (std::string& value : *part) {
      while (value.size() > 1 && value[0] == '0' && IsDigit(value[1])) value.erase(0, 1);
    }
  }
  std::vector<std::string> fields{time[1], time[0], date[2], date[1], weekdays};
  const bool years = date[0] != "*";
  if (years || time[2] != "0") fields.insert(fields.begin(), time[2]);
  if (years) fields.push_back(date[0]);
  const std::string way = UseCron(InOneLine(fields));
  return zone.empty() || way == kUseFields ? way : way + " with that time_zone";
}

WayOrNone OfSystemd(std::string_view text) {
  const bool dotted = text.find("..") != std::string_view::npos;
  const bool timed = text.find(':') != std::string_view::npos;
  const bool dated =
      text.find("*-*") != std::string_view::npos || text.find("*-") != std::string_view::npos;
  if (!dotted && !timed && !dated) return std::nullopt;
  if (text.find_first_of("()=\n") != std::string_view::npos) return std::nullopt;
  std::vector<std::string> words = WordsOf(AsciiUpper(text), " \t");
  if (words.size() <= 4) return FromSystemd(words);
  // Weekday, date, time and zone are four words. More are fields of cron, one of which is wrong.
  for (std::string& word : words) {
    const size_t at = word.find("..");
    if (at != std::string::npos) word.replace(at, 2, "-");
  }
  const std::string expression = InOneLine(words);
  if (!dotted || !ParsePlainCron(expression).ok()) return std::nullopt;
  return UseCron(expression);
}

// OpenBSD and cronie: "~" and "0~30" are a random value that stays the same.
WayOrNone OfTilde(std::string_view text) {
  if (text.find('~') == std::string_view::npos) return std::nullopt;
  std::vector<std::string> fields = WordsOf(AsciiUpper(text), " \t");
  for (std::string& field : fields) {
    const size_t at = field.find('~');
    if (at == std::string::npos) continue;
    field = field == "~" ? "H" : fmt::format("H({}-{})", field.substr(0, at), field.substr(at + 1));
  }
  const std::string expression = InOneLine(fields);
  if (!ParsePlainCron(expression).ok()) return "write H for a value that differs from job to job";
  return UseCron(expression);
}

// Jenkins and crontabs: several expressions, one a line.
WayOrNone OfLines(std::string_view text) {
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  if (text.find_first_not_of(" \t\r\n", line) == std::string_view::npos) return std::nullopt;
  return "write one schedule for each line";
}

constexpr std::array kDialects{&OfManual, &OfReboot,   &OfName, &OfEvery,   &OfSeconds, &OfAt,
                               &OfRate,   &OfCronCall, &OfIso,  &OfSystemd, &OfTilde,   &OfLines};

}  // namespace

std::string WayToSay(std::string_view text) {
  const std::string_view trimmed = WithoutBlanks(text);
  const std::string upper = AsciiUpper(trimmed);
  for (const std::string_view setting : {"TZ=", "CRON_TZ="}) {
    if (upper.starts_with(setting)) return "this is set apart here: " + OfZone(trimmed);
  }
  std::string lower(upper);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (lower.empty()) return {};
  for (const auto& dialect : kDialects) {
    const auto way = dialect(lower);
    if (way) return fmt::format("{} is not a cron expression: {}", ShownText(trimmed), *way);
  }
  return {};
}

std::string WithYearLast(std::string_view text) {
  const std::vector<std::string> fields = WordsOf(AsciiUpper(text), " \t");
  if (fields.size() != 6) return {};
  const std::string& year = fields[5];
  const bool any = year == "*" || year == "?";
  if (!any && !(year.size() >= 4 && IsDigit(year[0]) && IsDigit(year[3]))) return {};
  const std::string expression = FromYearLast(fields);
  return ParsePlainCron(expression).ok() ? "'" + expression + "'" : std::string();
}

std::string NamedWeekdays(std::string_view field) {
  std::string named;
  bool number = false;  // the last character was '/' or '#': what follows is no weekday
  bool any = false;
  for (const char c : field) {
    if (!number && c == '0') return {};  // no weekday of Quartz
    const bool weekday = !number && c >= '1' && c <= '7';
    if (weekday) named += kWeekdays[static_cast<size_t>(c - '1')];
    if (!weekday) named += c;
    any = any || weekday;
    number = c == '/' || c == '#' || (number && IsDigit(c)) || IsDigit(c);
  }
  return any ? named : std::string();
}

}  // namespace carillon
