#include "common/imports/crontab_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/domain/job_text.h"
#include "common/domain/schedule/schedule_spec.h"
#include "common/domain/schedule/zone.h"
#include "common/domain/template/template_text.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

constexpr std::string_view kShell = "/bin/sh";
constexpr size_t kValueBytesMax = 32'768;
constexpr int64_t kDelayMinutesMax = 1'440;

bool HasComment(std::string_view value) {
  return value.find(" #") != std::string_view::npos || value.find("\t#") != std::string_view::npos;
}

// The fault of a SHELL, with which cron could not start anything.
std::string ShellFault(std::string_view value) {
  if (value.empty()) return "SHELL is empty, so cron starts nothing";
  if (!value.starts_with('/')) return "SHELL is no absolute path, so cron does not find it";
  if (value.find_first_of(" \t") != std::string_view::npos) {
    return "cron takes all of SHELL for the path of a program, without arguments and comments";
  }
  return "";
}

std::string HomeFault(std::string_view value) {
  if (value.starts_with('/')) return "";
  if (value.starts_with('~') || value.starts_with('$')) {
    return "cron does not expand ~ or $ in HOME; write the absolute path";
  }
  return "HOME is no absolute path";
}

}  // namespace

CrontabSettings::Answer CrontabSettings::Set(const CrontabSetting& setting, size_t line) {
  Answer answer = Keep(setting);
  if (answer.fault.empty()) {
    unread_.erase(setting.name);
  } else {
    unread_[setting.name] = {.line = line, .why = answer.fault};
  }
  return answer;
}

CrontabSettings::Answer CrontabSettings::Keep(const CrontabSetting& setting) {
  const auto& [name, value, quoted] = setting;
  if (name == "CRON_TZ") return SetTimeZone(value);
  if (name == "RANDOM_DELAY") return SetDelay(value);
  if (name == "LOGNAME" || name == "USER") return {.remark = "cron itself sets " + name};
  std::string fault = CrontabTextFault(name + value, kValueBytesMax);
  if (!fault.empty()) return {.fault = "the setting " + fault};
  if (IsReservedVariable(name)) return {.fault = name + " is a variable of Carillon; rename it"};
  if (name == "SHELL") fault = ShellFault(value);
  if (name == "HOME") fault = HomeFault(value);
  if (!fault.empty()) return {.fault = fault};
  if (name == "SHELL") shell_ = value;
  if (IsVariableName(name)) {
    env_[name] = EscapeTemplate(value);
  } else if (name.starts_with('-')) {
    return {.fault = "the name begins with a minus"};
  } else {
    odd_names_[name] = value;
  }
  if ((name == "MAILTO" || name == "MAILFROM") && !value.empty()) {
    return {.remark = "output is stored with each run instead of being mailed"};
  }
  if (!quoted && HasComment(value))
    return {.remark = "cron takes the comment for a part of the value"};
  return {};
}

// An empty zone is that of the machine, and a colon may precede a name.
CrontabSettings::Answer CrontabSettings::SetTimeZone(const std::string& value) {
  const std::string name = value.starts_with(':') ? value.substr(1) : value;
  if (!name.empty() && !Zone::Load(name).ok()) {
    return {.fault = fmt::format("the time zone {} is unknown; write a name such as Europe/Paris",
                                 ToValidUtf8(name))};
  }
  time_zone_ = name.empty() ? machine_zone_ : name;
  return {};
}

// As strtol reads it. cron picks one delay up to this one when it starts; here each fire has one.
CrontabSettings::Answer CrontabSettings::SetDelay(const std::string& value) {
  constexpr int64_t kMinutesMax = kJitterMax / 1min;
  const int64_t minutes = std::strtol(value.c_str(), nullptr, 10);
  if (minutes < 0 || minutes > kDelayMinutesMax) {
    jitter_s_ = 0;
    return {.remark = "RANDOM_DELAY must be 0 to 1440 minutes; cron ignores it"};
  }
  jitter_s_ = std::min(minutes, kMinutesMax) * 60;
  if (minutes <= kMinutesMax) return {};
  return {.remark = "entries are delayed by at most an hour"};
}

std::string CrontabSettings::Fault() const {
  if (unread_.empty()) return "";
  const auto& [name, unread] = *unread_.begin();
  return fmt::format("{} in line {} cannot be kept: {}", ToValidUtf8(name), unread.line,
                     unread.why);
}

std::string CrontabSettings::CommandLine(const std::string& command,
                                         const std::string& input) const {
  if (shell_ == kShell && odd_names_.empty() && input.empty()) return command;
  std::string line;
  if (input.empty()) {
    line = "exec ";
  } else {
    line = "printf '%s\\n'";
    std::string_view left = input;
    while (!left.empty()) {
      const size_t end = left.find('\n');
      line += " " + ShellQuoted(left.substr(0, end));
      left.remove_prefix(std::min(end, left.size() - 1) + 1);
    }
    line += " | ";
  }
  if (!odd_names_.empty()) {
    line += "env";
    for (const auto& [name, value] : odd_names_) line += " " + ShellQuoted(name + "=" + value);
    line += ' ';
  }
  const bool plain = shell_ == kShell && odd_names_.empty();
  return line + (plain ? std::string(kShell) : ShellQuoted(shell_)) + " -c " + ShellQuoted(command);
}

}  // namespace carillon
