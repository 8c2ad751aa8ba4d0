// The settings above the entries of a crontab. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/imports/crontab_text.h"

namespace carillon {

// The settings in force at a line. Later ones replace earlier ones of the same name.
class CrontabSettings {
 public:
  explicit CrontabSettings(std::string machine_zone)
      : machine_zone_(std::move(machine_zone)), time_zone_(machine_zone_) {}

  struct Answer {
    std::string fault = {};   // not "": it cannot be kept, and the entries below are refused
    std::string remark = {};  // not "": its effect differs from cron's
  };
  Answer Set(const CrontabSetting& setting, size_t line);

  // The reason to refuse every entry below; "" if there is none.
  std::string Fault() const;

  const std::string& time_zone() const { return time_zone_; }
  // Of RANDOM_DELAY.
  int64_t jitter_s() const { return jitter_s_; }
  // The environment of the command, as templates.
  const std::map<std::string, std::string>& env() const { return env_; }
  // The command line of /bin/sh that runs `command` as cron would, with the shell of the crontab
  // and `input` on standard input. "" for input: none.
  std::string CommandLine(const std::string& command, const std::string& input) const;

 private:
  Answer Keep(const CrontabSetting& setting);
  Answer SetTimeZone(const std::string& value);
  Answer SetDelay(const std::string& value);

  struct Unread {
    size_t line = 0;
    std::string why;
  };

  const std::string machine_zone_;
  std::string time_zone_;
  std::string shell_ = "/bin/sh";
  int64_t jitter_s_ = 0;
  std::map<std::string, std::string> env_;
  std::map<std::string, std::string> odd_names_;  // that the environment of a job cannot have
  std::map<std::string, Unread> unread_;
};

}  // namespace carillon
