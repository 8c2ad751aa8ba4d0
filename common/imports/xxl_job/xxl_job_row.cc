#include "common/imports/xxl_job/xxl_job_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/ascii.h"
#include "common/domain/job/job.h"
#include "common/domain/template/parameter_dates.h"
#include "common/domain/template/template_text.h"
#include "common/imports/xxl_job/quartz_cron.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

// Without a timeout of its own, a job gets the longest that one may have.
constexpr int64_t kXxlTimeoutMaxSeconds = 604'800;
constexpr int64_t kXxlRetriesMax = 100;
constexpr int64_t kXxlRetryIntervalSeconds = 10;  // so often XXL-JOB looks for failed runs
constexpr size_t kXxlLabelBytesMax = 255;
constexpr size_t kXxlMailsMax = 20;

std::string Column(const DumpRow& row, const std::string& name) {
  const auto found = row.find(name);
  return found == row.end() ? std::string() : found->second.value_or("");
}

std::string_view XxlTrimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

// 0 for anything that is no whole number.
int64_t NumberColumn(const DumpRow& row, const std::string& name) {
  const std::string text = Column(row, name);
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? value : 0;
}

std::vector<std::string> CommaList(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view item = XxlTrimmed(text.substr(0, end));
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

void Reject(XxlJobRow& read, std::string why) {
  if (!read.refused) read.row.remarks.clear();
  read.refused = true;
  read.row.remarks.push_back(std::move(why));
}

// A remark on a row that was refused would look like a reason.
void Remark(XxlJobRow& read, std::string what) {
  if (!read.refused) read.row.remarks.push_back(std::move(what));
}

struct XxlMeaning {
  std::string_view theirs;
  std::string_view ours;
  std::string_view remark = {};
};

constexpr std::array<XxlMeaning, 9> kXxlRoutes{
    {{"FIRST", "first_healthy"},
     {"LAST", "first_healthy", "LAST is not available: the first executor is chosen, not the last"},
     {"ROUND", "round_robin"},
     {"RANDOM", "random"},
     {"CONSISTENT_HASH", "consistent_hash"},
     {"LEAST_FREQUENTLY_USED", "least_loaded",
      "LEAST_FREQUENTLY_USED becomes least_loaded: the executor with most free slots"},
     {"LEAST_RECENTLY_USED", "round_robin"},
     {"FAILOVER", "first_healthy"},
     {"BUSYOVER", "first_healthy"}}};
constexpr std::array<XxlMeaning, 3> kXxlBlocks{{{"SERIAL_EXECUTION", "queue_all"},
                                                {"DISCARD_LATER", "skip"},
                                                {"COVER_EARLY", "terminate_previous"}}};
constexpr std::array<XxlMeaning, 7> kXxlInterpreters{
    {{"GLUE_SHELL", "bash"},
     {"GLUE_PYTHON", "python3", "it runs with python3; XXL-JOB calls python"},
     {"GLUE_PYTHON2", "python3", "it is a program for Python 2 and runs with python3"},
     {"GLUE_PHP", "php"},
     {"GLUE_NODEJS", "node"},
     {"GLUE_POWERSHELL", "pwsh"},
     {"GLUE_POWERSHELL7", "pwsh"}}};

template <size_t kSize>
const XxlMeaning* MeaningOf(const std::array<XxlMeaning, kSize>& meanings, std::string_view text) {
  for (const XxlMeaning& one : meanings) {
    if (one.theirs == text) return &one;
  }
  return nullptr;
}

// "close_day" from "closeDay". What no name of a handler may have becomes "_".
std::string HandlerNameOf(std::string_view name) {
  std::string converted;
  bool small = false;  // the last one was a small letter or a digit
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      if (small) converted += '_';
      converted += static_cast<char>(c - 'A' + 'a');
      small = false;
      continue;
    }
    const bool plain = IsLetter(c) || IsDigit(c);
    converted += plain || c == '_' || c == '-' || c == '.' ? c : '_';
    small = plain;
  }
  return converted;
}

// Texts that a run gets must be kept byte for byte; those that people read need not.
void CheckTexts(const DumpRow& row, XxlJobRow& read) {
  for (const char* name : {"executor_handler", "executor_param", "glue_source"}) {
    const std::string fault = ImportFault(Column(row, name));
    if (!fault.empty()) Reject(read, fmt::format("{} {}", name, fault));
  }
  for (const char* name : {"job_desc", "author"}) {
    const std::string fault = ImportFault(Column(row, name));
    if (!fault.empty())
      Remark(read, fmt::format("{} {}: the characters were replaced", name, fault));
  }
}

bool IsBroadcastRow(const DumpRow& row) {
  return Column(row, "executor_route_strategy") == "SHARDING_BROADCAST";
}

void SetRouting(const DumpRow& row, XxlJobRow& read) {
  const std::string route = Column(row, "executor_route_strategy");
  if (route.empty()) return;
  if (IsBroadcastRow(row)) {
    read.job["broadcast"] = json::object();
    return Remark(read,
                  "SHARDING_BROADCAST becomes broadcast, one part on each executor that "
                  "executor_selector matches");
  }
  const XxlMeaning* meaning = MeaningOf(kXxlRoutes, route);
  if (meaning == nullptr) return Reject(read, "unknown executor_route_strategy " + route);
  read.job["routing"] = meaning->ours;
  if (!meaning->remark.empty()) Remark(read, std::string(meaning->remark));
}

void SetPolicies(const DumpRow& row, XxlJobRow& read) {
  const std::string block = Column(row, "executor_block_strategy");
  const XxlMeaning* meaning = MeaningOf(kXxlBlocks, block.empty() ? "SERIAL_EXECUTION" : block);
  if (meaning == nullptr) {
    Reject(read, "unknown executor_block_strategy " + block);
  } else if (meaning->ours == "terminate_previous" && IsBroadcastRow(row)) {
    read.job["overlap_policy"] = "queue_all";
    Remark(read, "COVER_EARLY is not available with broadcast: a run waits for the one before it");
  } else {
    read.job["overlap_policy"] = meaning->ours;
  }
  const std::string misfire = Column(row, "misfire_strategy");
  if (!misfire.empty() && misfire != "DO_NOTHING" && misfire != "FIRE_ONCE_NOW") {
    Reject(read, "unknown misfire_strategy " + misfire);
  }
  read.job["misfire_policy"] = misfire == "FIRE_ONCE_NOW" ? "latest" : "skip";
  const int64_t timeout = NumberColumn(row, "executor_timeout");
  if (timeout > kXxlTimeoutMaxSeconds) {
    Remark(read, fmt::format("the timeout of {} s becomes the longest possible, {} s", timeout,
                             kXxlTimeoutMaxSeconds));
  }
  read.job["timeout"] =
      timeout <= 0 ? kXxlTimeoutMaxSeconds : std::min(timeout, kXxlTimeoutMaxSeconds);
  const int64_t retries = NumberColumn(row, "executor_fail_retry_count");
  if (retries > kXxlRetriesMax) {
    Remark(read, fmt::format("{} retries become {}", retries, kXxlRetriesMax));
  }
  if (retries > 0) {
    read.job["retry_count"] = std::min(retries, kXxlRetriesMax);
    read.job["retry_interval"] = kXxlRetryIntervalSeconds;
  }
}

void SetPeople(const DumpRow& row, XxlJobRow& read) {
  const std::string author = ImportShown(Column(row, "author"));
  if (!author.empty() && author.size() <= kXxlLabelBytesMax) {
    read.job["labels"]["author"] = author;
  }
  const std::vector<std::string> mails = CommaList(Column(row, "alarm_email"));
  if (mails.empty()) return;
  const bool valid = mails.size() <= kXxlMailsMax &&
                     std::all_of(mails.begin(), mails.end(),
                                 [](const std::string& mail) { return IsMailAddress(mail); });
  if (valid) {
    read.job["notify"] = {{"mail_to", mails}};
  } else {
    Remark(read, "alarm_email is no list of up to 20 mail addresses and was left out");
  }
}

}  // namespace

XxlJobRow XxlJobReader::Read(const DumpRow& row) {
  XxlJobRow read{.id = Column(row, "id")};
  const std::string description = Column(row, "job_desc");
  read.row.source = fmt::format("xxl_job_info {} ({})", read.id, description);
  CheckTexts(row, read);
  if (read.refused) return read;
  const auto found = apps_.find(Column(row, "job_group"));
  const XxlJobApp* app = found == apps_.end() ? nullptr : &found->second;
  read.job = {{"job_id", IdOf(app, read.id)},
              {"name", ImportShown(description)},
              {"time_zone", options_.time_zone},
              {"description", fmt::format("XXL-JOB {}{}", ImportShown(read.id),
                                          app != nullptr ? " of " + app->title : "")}};
  if (app != nullptr) read.job["labels"]["xxl-job-executor"] = ImportShown(app->name);
  if (row.contains("trigger_status")) {
    read.stopped = Column(row, "trigger_status") != "1";
    read.job["labels"]["was-running"] = read.stopped ? "no" : "yes";
  }
  SetSchedule(row, read);
  SetWork(row, app, read);
  SetRouting(row, read);
  SetPolicies(row, read);
  SetPeople(row, read);
  read.children = CommaList(Column(row, "child_jobid"));
  if (read.refused) return read;
  json named = read.job;  // its own name is made fit later
  named["name"] = "named";
  const auto valid = ParseJob(named);
  if (!valid.ok()) Reject(read, valid.error().pointer + ": " + valid.error().message);
  return read;
}

// The name of the executor is cut, but not the id.
std::string XxlJobReader::IdOf(const XxlJobApp* app, const std::string& id) const {
  constexpr size_t kBytesMax = 63;
  const size_t others = options_.id_prefix.size() + id.size() + 1;
  std::string name = ImportedId(app != nullptr ? app->name : "");
  if (name.empty()) name = "xxl-job";
  name.resize(std::min(name.size(), kBytesMax - std::min(kBytesMax - 1, others)));
  return writer_.IdFor(name + "-" + id);
}

void XxlJobReader::SetSchedule(const DumpRow& row, XxlJobRow& read) const {
  const bool typed = row.contains("schedule_type");
  const std::string type = typed ? Column(row, "schedule_type") : "CRON";
  const std::string text(XxlTrimmed(Column(row, typed ? "schedule_conf" : "job_cron")));
  if (type == "NONE" || (!typed && text.empty())) return;
  read.row.expression = type == "CRON" ? text : type + " " + text;
  if (type == "CRON") {
    auto cron = ConvertQuartzCron(text);
    if (!cron.ok()) return Reject(read, cron.error().message);
    read.job["schedules"] = {{{"kind", "cron"}, {"cron_expression", cron->expression}}};
    for (std::string& remark : cron->remarks) Remark(read, std::move(remark));
    return;
  }
  const int64_t seconds = NumberColumn(row, "schedule_conf");
  constexpr int64_t kMax = 1'000'000'000;
  if (type != "FIX_RATE" && type != "FIX_DELAY") {
    return Reject(read, "unknown schedule_type " + type);
  }
  if (seconds < 1 || seconds > kMax) return Reject(read, "schedule_conf is no number of seconds");
  if (type == "FIX_DELAY") {
    return Reject(read, fmt::format("FIX_DELAY counts from the end of a run: create a job with the "
                                    "schedule {{kind: delay, every_ms: {}}}",
                                    seconds * 1'000));
  }
  read.job["schedules"] = {{{"kind", "rate"}, {"every_ms", seconds * 1'000}}};
}

void XxlJobReader::SetWork(const DumpRow& row, const XxlJobApp* app, XxlJobRow& read) {
  const std::string type = Column(row, "glue_type");
  if (type == "BEAN") return SetHandler(row, app, read);
  if (type == "GLUE_GROOVY") {
    return Reject(read, "GLUE_GROOVY is Java source: make it a handler of an application");
  }
  const XxlMeaning* interpreter = MeaningOf(kXxlInterpreters, type);
  if (interpreter == nullptr) return Reject(read, "unknown glue_type " + type);
  read.job["type"] = "script";
  // The arguments that XXL-JOB gives: its parameter, the number of the part, and of all parts.
  read.job["script"] = {{"interpreter", interpreter->ours},
                        {"body", Column(row, "glue_source")},
                        {"args",
                         {EscapeTemplate(Column(row, "executor_param")),
                          IsBroadcastRow(row) ? "{{shard_index}}" : "0",
                          IsBroadcastRow(row) ? "{{shard_total}}" : "1"}}};
  if (!interpreter->remark.empty()) Remark(read, std::string(interpreter->remark));
  Remark(read, fmt::format("it may run on any executor, not only on those of {}: set "
                           "executor_selector",
                           app != nullptr ? app->name : "its own"));
}

const std::string& XxlJobReader::Renamed(const std::string& name) const {
  const auto found = options_.names.find(name);
  return found == options_.names.end() ? name : found->second;
}

void XxlJobReader::SetHandler(const DumpRow& row, const XxlJobApp* app, XxlJobRow& read) {
  const std::string theirs(XxlTrimmed(Column(row, "executor_handler")));
  if (theirs.empty()) return Reject(read, "executor_handler is empty");
  if (app == nullptr) {
    return Reject(read, fmt::format("its executor {} is not in the dump: dump xxl_job_group too",
                                    Column(row, "job_group")));
  }
  std::string handler = Renamed(theirs);
  const bool renamed = handler != theirs;
  if (!renamed) handler = HandlerNameOf(theirs);
  if (handler.find('/') == std::string::npos) {
    const std::string& name = Renamed(app->name);
    handler = (name == app->name ? ImportedId(name) : name) + "/" + handler;
  }
  const std::string source = app->name + "/" + theirs;
  const auto [known, added] = handlers_.emplace(handler, source);
  if (!added && known->second != source && !renamed) {
    return Reject(read, fmt::format("{} and {} would both be the handler {}: rename one of them",
                                    known->second, source, handler));
  }
  read.job["type"] = "handler";
  read.job["handler"] = handler;
  const std::string parameter = Column(row, "executor_param");
  if (!parameter.empty()) read.job["parameters"] = {{"param", parameter}};
  if (HasDates({{"param", parameter}})) {
    Remark(read, "its parameter has a placeholder such as {{fire_date}}, which each run replaces");
  }
  if (!renamed && !handler.ends_with("/" + theirs)) {
    Remark(read, fmt::format("the handler {} is {} here", theirs, handler));
  }
}

}  // namespace carillon
