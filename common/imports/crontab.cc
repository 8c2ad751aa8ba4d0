#include "common/imports/crontab.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

// cron has no timeout. A job must have one, so its timeout is the longest that a job may have.
constexpr int kTimeoutMaxSeconds = 604'800;
constexpr size_t kNameBytesMax = 80;
constexpr size_t kIdBytesMax = 40;
constexpr size_t kDescriptionBytesMax = 10'000;

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view Trim(std::string_view text) {
  text = TrimLeft(text);
  while (!text.empty() && (IsSpace(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Removes and returns the next word of `text`.
std::string_view TakeWord(std::string_view& text) {
  text = TrimLeft(text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = TrimLeft(text.substr(end));
  return word;
}

std::string_view Unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

struct Setting {
  std::string name;
  std::string value;
};

// Reads NAME = value by cron's rules; nullopt if the line is not a setting.
std::optional<Setting> AsSetting(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view name = Unquoted(Trim(line.substr(0, equals)));
  const auto named = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !std::all_of(name.begin(), name.end(), named)) {
    return std::nullopt;
  }
  return Setting{std::string(name), std::string(Unquoted(Trim(line.substr(equals + 1))))};
}

// The command of an entry: the text up to the first "%" without a backslash before it. The text
// after this "%" is the command's input.
struct CommandText {
  std::string command;
  bool has_input = false;
};

CommandText ReadCommand(std::string_view text) {
  CommandText read;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '%') {
      read.command += '%';
      ++i;
    } else if (text[i] == '%') {
      read.has_input = true;
      break;
    } else {
      read.command += text[i];
    }
  }
  return read;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// True if an item is a number with a step, as in "5/10". cron reads "5/10" as 5. Carillon reads it
// as 5, 15, 25 and so on.
bool StepsFromANumber(std::string_view field) {
  while (!field.empty()) {
    const size_t comma = std::min(field.find(','), field.size());
    const std::string_view item = field.substr(0, comma);
    const size_t slash = item.find('/');
    const std::string_view from = item.substr(0, slash);
    if (slash != std::string_view::npos && !from.starts_with('*') &&
        from.find('-') == std::string_view::npos) {
      return true;
    }
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
  return false;
}

// Returns at most `bytes_max` bytes of `text`. Does not split a UTF-8 character.
std::string Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

// Derives an id from the command: "backup-sh" from "/usr/local/bin/backup.sh --full".
std::string IdOf(std::string_view command) {
  const std::string_view program = command.substr(0, command.find_first_of(" \t;|&<>"));
  const std::string_view base = program.substr(program.rfind('/') + 1);
  std::string id;
  for (const char c : base.substr(0, kIdBytesMax)) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (plain) {
      id += lower;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "cron" : id;
}

// True if a line probably has a user before the command, although --system was not given. Some
// accounts have the name of a program. After these accounts a path must follow.
bool StartsWithUser(std::string_view command) {
  constexpr std::array<std::string_view, 12> kAccounts = {
      "backup",     "daemon", "mysql", "nagios",   "nobody", "postgres",
      "prometheus", "redis",  "root",  "www-data", "zabbix", "nginx"};
  const std::string_view first = TakeWord(command);
  if (std::find(kAccounts.begin(), kAccounts.end(), first) == kAccounts.end()) return false;
  return first == "root" || first == "www-data" || command.starts_with('/');
}

bool NeverFires(const std::string& expression) {
  const auto schedule = Schedule::Compile(
      {.kind = ScheduleKind::kCron, .cron_expression = expression, .time_zone = "UTC"},
      DstGap::kFire, DstRepeat::kAuto);
  return schedule.ok() && !schedule->Next(FromUnixMicros(0));
}

class Reader {
 public:
  explicit Reader(const CrontabOptions& options)
      : options_(options), time_zone_(options.time_zone) {}

  void Read(size_t number, std::string_view line) {
    number_ = number;
    line_ = Trim(line);
    if (line_.empty()) {
      comment_.clear();
    } else if (line_.front() == '#') {
      AddComment(Trim(line_.substr(std::min(line_.find_first_not_of('#'), line_.size()))));
    } else if (const auto setting = AsSetting(line_)) {
      Set(*setting);
      comment_.clear();
    } else {
      ReadEntry();
      comment_.clear();
    }
  }
  CrontabImport Take() { return std::move(import_); }

 private:
  void Refuse(std::string why) {
    import_.refused.push_back({number_, std::string(line_), std::move(why)});
  }
  void Remark(std::string why) {
    import_.remarks.push_back({number_, std::string(line_), std::move(why)});
  }
  void AddComment(std::string_view text) {
    if (text.empty() && comment_.empty()) return;
    if (!comment_.empty()) comment_ += '\n';
    comment_ += text;
  }

  void Set(const Setting& setting) {
    if (setting.name == "CRON_TZ") {
      if (!Zone::Load(setting.value).ok()) {
        Refuse("unknown time zone; the entries below use " + time_zone_);
        return;
      }
      time_zone_ = setting.value;
    } else if (setting.name == "SHELL") {
      shell_ = setting.value;
    } else if (setting.name == "MAILTO" || setting.name == "MAILFROM") {
      Remark("output is stored with each run instead of being mailed");
    } else if (setting.name == "RANDOM_DELAY") {
      Remark("random delays are not supported; entries start at their exact time");
    } else {
      env_[setting.name] = setting.value;
    }
  }

  // Returns the schedule of the entry: one word that begins with "@", or five words. Empty if the
  // line was rejected.
  std::string TakeExpression(std::string_view& rest) {
    const std::string_view first = TakeWord(rest);
    if (first.starts_with('@')) {
      if (first == "@reboot") {
        Refuse("@reboot is not supported; use a systemd unit");
        return {};
      }
      return std::string(first);
    }
    std::string expression(first);
    for (int field = 1; field < 5; ++field) {
      const std::string_view word = TakeWord(rest);
      if (word.empty()) {
        Refuse("neither a setting nor five schedule fields and a command");
        return {};
      }
      expression += ' ';
      expression += word;
    }
    std::string_view fields = expression;
    for (int field = 0; field < 5; ++field) {
      if (!StepsFromANumber(TakeWord(fields))) continue;
      Refuse("cron ignores a step after a single number; write the range, e.g. 5-59/10");
      return {};
    }
    return expression;
  }

  void ReadEntry() {
    std::string_view rest = line_;
    const std::string expression = TakeExpression(rest);
    if (expression.empty()) return;
    std::string user;
    if (options_.system) {
      user = TakeWord(rest);
    } else if (StartsWithUser(TrimLeft(rest))) {
      Remark("the command starts with a user name; use --system for a system crontab");
    }
    const CommandText text = ReadCommand(rest);
    const std::string command(Trim(text.command));
    if (command.empty()) return Refuse("no command");
    if (text.has_input) {
      return Refuse("input after % is not supported; put it into the command");
    }
    json job = {{"name", Shortened(command, kNameBytesMax)},
                {"command", shell_.empty() || shell_ == "/bin/sh" || shell_ == "sh"
                                ? command
                                : "exec " + Quoted(shell_) + " -c " + Quoted(command)},
                {"cron_expression", expression},
                {"time_zone", time_zone_},
                {"timeout", kTimeoutMaxSeconds}};
    if (!env_.empty()) job["env"] = env_;
    if (!comment_.empty()) job["description"] = Shortened(comment_, kDescriptionBytesMax);
    if (!user.empty()) job["labels"] = {{"crontab-user", user}};
    const auto valid = ParseJob(job);
    if (!valid.ok()) return Refuse(valid.error().pointer + ": " + valid.error().message);
    job["job_id"] = FreeId(options_.id_prefix + IdOf(command));
    if (NeverFires(expression)) Remark("it never fires: no such date exists");
    if (!user.empty() && users_.insert(user).second) {
      Remark("commands run as the executor's user, not as " + user);
    }
    import_.jobs.push_back(std::move(job));
  }

  // Returns `base`. If `base` is used already, returns it with a number. The ids depend on the
  // order of the entries only, so the same file always gives the same ids.
  std::string FreeId(const std::string& base) {
    std::string id = base;
    for (int count = 2; !ids_.insert(id).second; ++count) id = base + "-" + std::to_string(count);
    return id;
  }

  const CrontabOptions options_;
  std::string time_zone_;
  std::string shell_;
  std::map<std::string, std::string> env_;
  std::string comment_;  // the comment directly above the next entry
  std::set<std::string> ids_;
  std::set<std::string> users_;
  CrontabImport import_;
  size_t number_ = 0;
  std::string_view line_;
};

}  // namespace

CrontabImport ParseCrontab(std::string_view text, const CrontabOptions& options) {
  Reader reader(options);
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    reader.Read(++number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.Take();
}

}  // namespace carillon
