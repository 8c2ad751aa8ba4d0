#include "common/imports/crontab.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "common/domain/job_text.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/template/template_text.h"
#include "common/imports/anacrontab.h"
#include "common/imports/crontab_settings.h"
#include "common/imports/crontab_text.h"
#include "common/imports/crontab_times.h"
#include "common/imports/crontab_user.h"
#include "common/imports/program_name.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

// cron has no timeout. A job must have one, so its timeout is the longest that a job may have.
constexpr int kTimeoutMaxSeconds = 604'800;
constexpr size_t kNameBytesMax = 80;
constexpr size_t kIdBytesMax = 40;
constexpr size_t kDescriptionBytesMax = 10'000;
constexpr size_t kCommandBytesMax = 65'536;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kPercent = "write \\% for a percent sign";

std::string_view WithoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const size_t last = text.find_last_not_of(" \t");
  return last == std::string_view::npos ? text : text.substr(0, last + 1);
}

// Returns at most `bytes_max` bytes of `text`. Does not split a UTF-8 character.
std::string Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

// Derives an id from a name: "backup-sh" from "Backup.sh".
std::string IdOf(std::string_view name) {
  std::string id;
  for (const char c : name.substr(0, kIdBytesMax)) {
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

// Text that can be shown on one line.
std::string Shown(std::string_view bytes) {
  std::string text = ToValidUtf8(bytes);
  std::replace_if(text.begin(), text.end(), IsControl, ' ');
  return text;
}

// The beginning of the command, in characters that a name may have; "" if none is left.
std::string NameOf(std::string_view command) {
  const std::string name = Shortened(Shown(command), kNameBytesMax);
  return IsBlank(name) || HasDirectionOverride(name) ? "" : name;
}

// An odd number of backslashes at the end.
bool EndsInBackslash(std::string_view text) {
  const size_t last = text.find_last_not_of('\\');
  const size_t count = last == std::string_view::npos ? text.size() : text.size() - last - 1;
  return count % 2 == 1;
}

bool NeverFires(const std::string& expression) {
  const auto schedule = Schedule::Compile(
      {.kind = ScheduleKind::kCron, .cron_expression = expression, .time_zone = "UTC"},
      DstGap::kFire, DstRepeat::kAuto);
  return schedule.ok() && !schedule->Next(FromUnixMicros(0));
}

// An entry behind its times.
struct Entry {
  CrontabTimes times;
  std::string user = {};
  bool one_at_a_time = false;     // the flag -s
  bool starts_with_user = false;  // although it is no system crontab
  CrontabCommand command = {};
};

// Removes the flags before a command: -n and -q concern mail and log, -s forbids overlap. They may
// share a minus.
Status TakeFlags(std::string_view& rest, Entry& entry) {
  while (rest.starts_with('-')) {
    const std::string_view word = TakeCrontabWord(rest);
    for (const char flag : word.substr(1)) {
      if (flag != 'n' && flag != 'q' && flag != 's') {
        return {ErrorCode::kInvalid,
                fmt::format("cron has no flag {}; a command does not begin with a minus",
                            ToValidUtf8(word))};
      }
      if (flag == 's') entry.one_at_a_time = true;
    }
    if (word.size() == 1) return {ErrorCode::kInvalid, "a minus without a flag"};
  }
  return {};
}

// Removes the user of a system crontab. FreeBSD allows a group and a class: "www:www/daemon".
Status TakeUser(std::string_view& rest, Entry& entry) {
  const std::string_view word = TakeCrontabWord(rest);
  const std::string_view user = word.substr(0, word.find(':'));
  if (!MayBeUser(user, rest)) {
    return {ErrorCode::kInvalid,
            fmt::format("no user before the command (is this a system crontab?): {} is none",
                        ToValidUtf8(word))};
  }
  entry.user = user;
  return {};
}

// All files of one import.
class Importer {
 public:
  explicit Importer(const CrontabOptions& options) : options_(options) {}

  void Read(const CrontabFile& file);
  CrontabImport Take() { return std::move(import_); }

 private:
  friend class FileReader;

  // Returns `base`. If `base` is used already, returns it with a number. The ids depend on the
  // order of the entries only, so the same files always give the same ids.
  std::string FreeId(const std::string& base) {
    std::string id = base;
    for (int count = 2; !ids_.insert(id).second; ++count) id = base + "-" + std::to_string(count);
    return id;
  }

  const CrontabOptions options_;
  std::set<std::string> ids_;
  std::set<std::string> users_;  // with a remark
  CrontabImport import_;
};

class FileReader {
 public:
  FileReader(Importer& importer, const CrontabFile& file)
      : importer_(importer), file_(file), settings_(importer.options_.time_zone) {}

  void Read() {
    std::string_view text = file_.text;
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      number_ = 1;
      return Refuse("the file is UTF-16; save it as UTF-8");
    }
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const bool anacron = IsAnacrontab(text);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      line_ = text.substr(0, end);
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      line_.remove_prefix(std::min(line_.find_first_not_of(" \t"), line_.size()));
      ++number_;
      ReadLine(anacron);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  CrontabLine Line(std::string why) const {
    return {file_.name, number_, Shown(line_), Shown(why)};
  }
  void Refuse(std::string why) { importer_.import_.refused.push_back(Line(std::move(why))); }
  void Remark(std::string why) { importer_.import_.remarks.push_back(Line(std::move(why))); }

  void ReadLine(bool anacron) {
    const bool continues = std::exchange(continues_, false);
    if (line_.empty()) {
      comment_.clear();
    } else if (line_.front() == '#') {
      AddComment(WithoutBlanks(line_.substr(std::min(line_.find_first_not_of('#'), line_.size()))));
    } else if (anacron) {
      if (auto answer = AnacronAnswer(line_)) Refuse(*std::move(answer));
    } else if (const auto setting = ReadCrontabSetting(line_)) {
      CrontabSettings::Answer answer = settings_.Set(*setting, number_);
      if (!answer.fault.empty()) Refuse(std::move(answer.fault));
      if (!answer.remark.empty()) Remark(std::move(answer.remark));
      comment_.clear();
    } else {
      ReadEntry(continues);
      comment_.clear();
    }
  }

  // True if cron takes the line for an entry only because of its quotation marks.
  bool LooksLikeSetting() const {
    const size_t end = line_.find_first_of("= \t");
    return end != std::string_view::npos && IsVariableName(line_.substr(0, end)) &&
           WithoutBlanks(line_.substr(end)).starts_with('=');
  }

  // A comment that only names the fields is about no entry, nor is what stands above it. An entry
  // that was commented out describes nothing either.
  void AddComment(std::string_view text) {
    if (NamesFields(text) || text.starts_with("(Cron version")) return comment_.clear();
    if (Parse(text).ok()) return;
    if (text.empty() && comment_.empty()) return;
    if (!comment_.empty()) comment_ += '\n';
    comment_ += text;
    std::erase(comment_, '\0');  // which a description cannot have
  }

  Result<Entry> Parse(std::string_view rest) const {
    Entry entry;
    CARILLON_ASSIGN_OR_RETURN(entry.times, TakeCrontabTimes(rest));
    if (rest.starts_with('*')) {
      return Error{ErrorCode::kInvalid, "more than five schedule fields; cron has no seconds"};
    }
    if (rest.empty()) return Error{ErrorCode::kInvalid, "no command"};
    if (importer_.options_.system) {
      CARILLON_TRY(TakeUser(rest, entry));
    } else {
      entry.starts_with_user = StartsWithUser(rest);
    }
    CARILLON_TRY(TakeFlags(rest, entry));
    if (rest.empty()) return Error{ErrorCode::kInvalid, "no command"};
    if (EndsInBackslash(rest)) {
      return Error{ErrorCode::kInvalid,
                   "cron has no continuation lines; write the command on one line"};
    }
    entry.command = ReadCrontabCommand(rest);
    CARILLON_TRY(CheckCommand(entry.command));
    return entry;
  }

  static Status CheckCommand(const CrontabCommand& read) {
    const std::string fault = CrontabTextFault(read.command + read.input, kCommandBytesMax);
    if (!fault.empty()) return {ErrorCode::kInvalid, "the command " + fault};
    if (WithoutBlanks(read.command).empty()) return {ErrorCode::kInvalid, "no command"};
    // "date +%F" without a backslash; or the "%" is inside quotes.
    const bool forgotten =
        !read.input.empty() && (read.command.ends_with('+') || !IsCompleteCommand(read.command));
    if (!forgotten) return {};
    return {ErrorCode::kInvalid, fmt::format("cron ends the command at %; {}", kPercent)};
  }

  void ReadEntry(bool continues) {
    const auto entry = Parse(line_);
    if (EndsInBackslash(line_)) continues_ = true;
    if (!entry.ok() && LooksLikeSetting()) {
      return Refuse("a quotation is not closed, or text follows it; cron ignores such a setting");
    }
    if (!entry.ok()) {
      return Refuse(continues ? "it continues the line above; cron has no continuation lines"
                              : entry.error().message);
    }
    if (std::string fault = settings_.Fault(); !fault.empty()) return Refuse(std::move(fault));
    const CrontabCommand& read = entry->command;
    json job = {{"command", EscapeTemplate(settings_.CommandLine(read.command, read.input))},
                {"working_directory", "~"},
                {"timeout", kTimeoutMaxSeconds}};
    SetSchedule(entry->times, job);
    const std::string id = IdOf(ProgramName(read.command));
    const std::string name = NameOf(WithoutBlanks(read.command));
    job["name"] = name.empty() ? id : name;
    if (entry->one_at_a_time) job["overlap_policy"] = "skip";
    if (!settings_.env().empty()) job["env"] = settings_.env();
    if (!comment_.empty()) {
      job["description"] = Shortened(ToValidUtf8(comment_), kDescriptionBytesMax);
    }
    const std::string& user = entry->user.empty() ? file_.user : entry->user;
    if (!user.empty()) job["labels"] = {{"crontab-user", user}};
    const auto valid = ParseJob(job);
    if (!valid.ok()) return Refuse(valid.error().pointer + ": " + valid.error().message);
    job["job_id"] = importer_.FreeId(importer_.options_.id_prefix + id);
    AddRemarks(*entry, user);
    const CrontabTimes& times = entry->times;
    importer_.import_.lines.push_back(
        Line(times.delay_s > 0 ? fmt::format("@{}", times.delay_s) : times.expression));
    importer_.import_.jobs.push_back(std::move(job));
  }

  void SetSchedule(const CrontabTimes& times, json& job) const {
    if (times.delay_s > 0) {
      job["schedules"] = {{{"kind", "delay"}, {"every_ms", times.delay_s * 1000}}};
      return;
    }
    if (settings_.jitter_s() > 0) {
      job["schedules"] = {{{"kind", "cron"},
                           {"cron_expression", times.expression},
                           {"time_zone", settings_.time_zone()},
                           {"jitter_s", settings_.jitter_s()}}};
    } else {
      job["cron_expression"] = times.expression;
      job["time_zone"] = settings_.time_zone();
    }
    if (!times.dst_gap.empty()) job["dst_gap"] = times.dst_gap;
    if (!times.dst_repeat.empty()) job["dst_repeat"] = times.dst_repeat;
  }

  void AddRemarks(const Entry& entry, const std::string& user) {
    if (entry.command.has_percent) {
      Remark(
          fmt::format("cron ends the command at %, and the rest becomes its input; {}", kPercent));
    }
    if (NeverFires(entry.times.expression)) Remark("it never fires: no such date exists");
    if (entry.starts_with_user) {
      Remark("the command starts with a user name; use --system for a system crontab");
    }
    if (!user.empty() && importer_.users_.insert(user).second) {
      Remark("commands run as the executor's user, not as " + user);
    }
  }

  Importer& importer_;
  const CrontabFile& file_;
  CrontabSettings settings_;
  std::string comment_;     // the comment directly above the next entry
  bool continues_ = false;  // the line above ended in a backslash
  size_t number_ = 0;
  std::string_view line_;
};

void Importer::Read(const CrontabFile& file) { FileReader(*this, file).Read(); }

}  // namespace

CrontabImport ParseCrontabs(const std::vector<CrontabFile>& files, const CrontabOptions& options) {
  Importer importer(options);
  for (const CrontabFile& file : files) importer.Read(file);
  return importer.Take();
}

CrontabImport ParseCrontab(std::string_view text, const CrontabOptions& options) {
  return ParseCrontabs({{.text = std::string(text)}}, options);
}

bool IsCrontabName(std::string_view name) {
  constexpr std::array<std::string_view, 4> kCopies{"~", ".rpmsave", ".rpmorig", ".rpmnew"};
  if (name.empty() || name.front() == '.' || name.front() == '#') return false;
  return std::none_of(kCopies.begin(), kCopies.end(),
                      [name](std::string_view end) { return name.ends_with(end); });
}

}  // namespace carillon
