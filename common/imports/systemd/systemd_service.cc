#include "common/imports/systemd/systemd_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/isolation.h"
#include "common/domain/job_text.h"
#include "common/domain/template/template_text.h"
#include "common/imports/crontab_text.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr int64_t kServiceTimeoutMaxSeconds = 604'800;
constexpr int64_t kStopDefaultSeconds = 90;
constexpr int64_t kStopMaxSeconds = 3'600;
constexpr int64_t kMicrosInSecond = 1'000'000;

// A word of a command line for /bin/sh. ${NAME} is replaced anywhere, $NAME as a whole word.
std::string ShellWord(const std::string& word) {
  if (word.size() > 1 && word.front() == '$' && IsVariableName(std::string_view(word).substr(1))) {
    return word;
  }
  std::string text;
  std::string plain;
  const auto flush = [&text, &plain] {
    if (!plain.empty()) text += ShellQuoted(plain);
    plain.clear();
  };
  for (size_t i = 0; i < word.size(); ++i) {
    const std::string_view rest = std::string_view(word).substr(i);
    const size_t end = rest.starts_with("${") ? rest.find('}') : std::string_view::npos;
    if (end != std::string_view::npos && IsVariableName(rest.substr(2, end - 2))) {
      flush();
      text += fmt::format("\"{}\"", rest.substr(0, end + 1));
      i += end;
      continue;
    }
    plain += word[i];
    if (rest.starts_with("$$")) ++i;
  }
  flush();
  return text.empty() ? "''" : text;
}

// True if the line begins with these characters as a word.
bool IsSystemdWord(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return false;
  line.remove_prefix(word.size());
  return line.empty() || line.front() == ' ' || line.front() == '\t';
}

class ServiceReader {
 public:
  ServiceReader(const SystemdUnit& service, const std::string& name)
      : service_(service), name_(name) {}

  SystemdWork Read() {
    const std::string type = Last("Type");
    if (!type.empty() && type != "simple" && type != "exec" && type != "oneshot" &&
        type != "idle") {
      Refuse(fmt::format("Type={} is a service that stays; a job ends", type));
    }
    ReadCommand();
    ReadEnvironment();
    ReadUser();
    ReadDirectory();
    ReadTimes(type == "oneshot");
    for (const char* name : {"ExecStartPre", "ExecStartPost", "ExecCondition", "ExecStopPost",
                             "ExecStop", "EnvironmentFile", "RootDirectory", "RootImage"}) {
      if (!Last(name).empty()) Refuse(fmt::format("{} is not available", name));
    }
    Remark(service_.Others(
        "Service", {"Type",           "ExecStart",        "Environment",     "EnvironmentFile",
                    "User",           "WorkingDirectory", "TimeoutStartSec", "TimeoutStopSec",
                    "TimeoutSec",     "RuntimeMaxSec",    "ExecStartPre",    "ExecStartPost",
                    "ExecCondition",  "ExecStopPost",     "ExecStop",        "RootDirectory",
                    "RootImage",      "StandardOutput",   "StandardError",   "SyslogIdentifier",
                    "RemainAfterExit"}));
    Remark(service_.Others("Unit", {"Description", "Documentation", "After", "Before", "Wants",
                                    "Requires", "DefaultDependencies"}));
    return std::move(read_);
  }

 private:
  std::string Last(std::string_view setting) const { return service_.Last("Service", setting); }
  void Refuse(std::string why) { read_.refusals.push_back(std::move(why)); }
  void Remark(const std::vector<std::string>& left_out) {
    if (left_out.empty()) return;
    read_.remarks.push_back(fmt::format("left out: {}", fmt::join(left_out, ", ")));
  }

  void ReadCommand() {
    const auto lines = service_.All("Service", "ExecStart");
    if (lines.size() != 1) {
      return Refuse(lines.empty() ? "the service has no ExecStart"
                                  : "several ExecStart: make one script of them");
    }
    auto command = ShellCommandOf(lines[0], name_);
    if (!command.ok()) return Refuse("ExecStart: " + command.error().message);
    read_.job["command"] = EscapeTemplate(*command);
  }

  void ReadEnvironment() {
    for (const std::string& line : service_.All("Service", "Environment")) {
      const auto words = SystemdWords(line);
      if (!words.ok()) return Refuse("Environment: " + words.error().message);
      for (const std::string& word : *words) {
        const auto value = ReplaceSpecifiers(word, name_);
        if (!value.ok()) return Refuse("Environment: " + value.error().message);
        const size_t middle = value->find('=');
        if (middle == std::string::npos) return Refuse("Environment: cannot read " + word);
        read_.job["env"][value->substr(0, middle)] = EscapeTemplate(value->substr(middle + 1));
      }
    }
  }

  void ReadUser() {
    const auto user = ReplaceSpecifiers(Last("User"), name_);
    if (!user.ok()) return Refuse("User: " + user.error().message);
    if (!user->empty() && !IsUserName(*user)) return Refuse("User: write its name: " + *user);
    if (!user->empty()) {
      read_.job["run_as"] = *user;
    } else {
      read_.remarks.emplace_back(
          "it has no User, so systemd runs it as root; here it runs as the executor's user");
    }
  }

  void ReadDirectory() {
    std::string line = Last("WorkingDirectory");
    if (line.starts_with('-')) line.erase(0, 1);
    const auto directory = ReplaceSpecifiers(line, name_);
    if (!directory.ok()) return Refuse("WorkingDirectory: " + directory.error().message);
    read_.job["working_directory"] = directory->empty() ? "/" : *directory;
  }

  void ReadTimes(bool oneshot) {
    std::string start = Last("TimeoutStartSec");
    std::string stop = Last("TimeoutStopSec");
    const std::string both = Last("TimeoutSec");
    if (start.empty()) start = both;
    if (stop.empty()) stop = both;
    const std::string limit = oneshot ? start : Last("RuntimeMaxSec");
    read_.job["timeout"] = Seconds(limit, 0, kServiceTimeoutMaxSeconds);
    read_.job["kill_grace"] = Seconds(stop, kStopDefaultSeconds, kStopMaxSeconds);
  }

  // `fallback` without a value; 0 is the longest, as for systemd.
  int64_t Seconds(const std::string& text, int64_t fallback, int64_t most) {
    const auto span =
        text.empty() ? std::optional(fallback * kMicrosInSecond) : ReadSystemdSpan(text);
    if (!span) read_.remarks.push_back("left out: a time that cannot be read, " + text);
    const int64_t us = span.value_or(0);
    const int64_t seconds = us / kMicrosInSecond + (us % kMicrosInSecond != 0 ? 1 : 0);
    return seconds <= 0 ? most : std::min(seconds, most);
  }

  const SystemdUnit& service_;
  const std::string& name_;
  SystemdWork read_;
};

}  // namespace

SystemdWork ConvertService(const SystemdUnit& service, const std::string& name) {
  return ServiceReader(service, name).Read();
}

Result<std::string> ShellCommandOf(std::string_view line, std::string_view unit) {
  bool ignores_failure = false;
  bool literal = false;
  while (!line.empty() && std::string_view("-:@+!").find(line.front()) != std::string_view::npos) {
    const char prefix = line.front();
    if (prefix == '-') {
      ignores_failure = true;
    } else if (prefix == ':') {
      literal = true;
    } else {
      return Error{ErrorCode::kInvalid, fmt::format("the prefix {} is not available", prefix)};
    }
    line.remove_prefix(1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.empty()) return Error{ErrorCode::kInvalid, "it has no command"};
  std::string command;
  while (!line.empty()) {
    if (IsSystemdWord(line, ";")) {
      return Error{ErrorCode::kInvalid, "several commands: make one script of them"};
    }
    // Behind a backslash the semicolon is a word, as for the -exec of find.
    if (IsSystemdWord(line, "\\;")) line.remove_prefix(1);
    CARILLON_ASSIGN_OR_RETURN(const std::string word, TakeSystemdWord(line));
    CARILLON_ASSIGN_OR_RETURN(const std::string replaced, ReplaceSpecifiers(word, unit));
    if (!command.empty()) command += ' ';
    command += literal ? ShellQuoted(replaced) : ShellWord(replaced);
  }
  return ignores_failure ? command + " || true" : "exec " + command;
}

}  // namespace carillon
