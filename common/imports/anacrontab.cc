#include "common/imports/anacrontab.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/ascii.h"
#include "common/imports/crontab_text.h"
#include "common/imports/crontab_times.h"

namespace carillon {
namespace {

bool IsNumber(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), IsDigit);
}

// "7 25 cron.weekly nice run-parts …", "@monthly 45 cron.monthly …".
bool IsEntry(std::string_view line) {
  const std::string_view period = TakeCrontabWord(line);
  const std::string_view delay = TakeCrontabWord(line);
  const std::string_view name = TakeCrontabWord(line);
  const bool named = !name.empty() && !IsDigit(name.front()) && name.front() != '*' &&
                     name.front() != '~' && name.front() != '-';
  return (IsNumber(period) || period.starts_with('@')) && IsNumber(delay) && named && !line.empty();
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

}  // namespace

bool IsAnacrontab(std::string_view text) {
  size_t entries = 0;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.empty() || line.front() == '#') continue;
    if (const auto setting = ReadCrontabSetting(line)) {
      if (setting->name == "START_HOURS_RANGE") return true;
      continue;
    }
    if (!IsEntry(line)) return false;
    ++entries;
  }
  return entries > 0;
}

std::optional<std::string> AnacronAnswer(std::string_view line) {
  if (ReadCrontabSetting(line)) return std::nullopt;
  const std::string_view period = TakeCrontabWord(line);
  std::string schedule = "--every DAYS";
  if (period == "1" || period == "@daily") schedule = "--cron 'H H * * *'";
  if (period == "7" || period == "@weekly") schedule = "--cron 'H H * * H'";
  if (period == "30" || period == "31" || period == "@monthly") schedule = "--cron 'H H H * *'";
  if (schedule.ends_with("DAYS") && IsNumber(period)) schedule = fmt::format("--every {}d", period);
  return fmt::format("an anacrontab is no crontab; create the job: carillon job create {} …",
                     schedule);
}

}  // namespace carillon
