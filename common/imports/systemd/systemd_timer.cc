#include "common/imports/systemd/systemd_timer.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/imports/import_writer.h"
#include "common/imports/systemd/systemd_calendar.h"
#include "common/imports/systemd/systemd_files.h"
#include "common/imports/systemd/systemd_service.h"
#include "common/imports/systemd/systemd_unit.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr std::string_view kTimerSuffix = ".timer";
constexpr int64_t kMicrosPerMs = 1'000;
constexpr int64_t kJitterMaxMicros = 3'600'000'000;
constexpr int64_t kMicrosPerS = 1'000'000;

using Units = std::map<std::string, SystemdUnit>;

// The unit of this name, or the template of which it is an instance.
const SystemdUnit* FindUnit(const Units& units, const std::string& name) {
  const auto found = units.find(name);
  if (found != units.end()) return &found->second;
  const size_t at = name.find('@');
  if (at == std::string::npos) return nullptr;
  const auto pattern = units.find(name.substr(0, at + 1) + name.substr(name.rfind('.')));
  return pattern == units.end() ? nullptr : &pattern->second;
}

class TimerReader {
 public:
  TimerReader(const Units& units, std::string name, const SystemdUnit& timer,
              const ImportOptions& options)
      : units_(units), name_(std::move(name)), timer_(timer), options_(options) {}

  void Write(ImportWriter& writer) {
    const std::string stem = name_.substr(0, name_.size() - kTimerSuffix.size());
    row_.source = name_;
    job_ = {{"job_id", writer.IdFor(stem)}, {"name", stem}, {"overlap_policy", "skip"}};
    if (stem.ends_with('@')) {
      refusals_.emplace_back("a template without an instance runs nothing");
    }
    SetSchedules();
    SetMisfires();
    SetJitter();
    SetWork(stem);
    const auto others =
        timer_.Others("Timer", {"OnCalendar", "OnActiveSec", "OnBootSec", "OnStartupSec",
                                "OnUnitActiveSec", "OnUnitInactiveSec", "AccuracySec",
                                "RandomizedDelaySec", "Persistent", "Unit", "RemainAfterElapse"});
    if (!others.empty())
      row_.remarks.push_back(fmt::format("left out: {}", fmt::join(others, ", ")));
    if (refusals_.empty()) {
      writer.Add(std::move(row_), std::move(job_));
    } else {
      row_.remarks = std::move(refusals_);
      writer.Refuse(std::move(row_));
    }
  }

 private:
  std::string Last(std::string_view setting) const { return timer_.Last("Timer", setting); }

  void Express(std::string_view setting, const std::string& value) {
    row_.expression += fmt::format("{}{}={}", row_.expression.empty() ? "" : "; ", setting, value);
  }

  void SetSchedules() {
    job_["time_zone"] = options_.time_zone;
    job_["schedules"] = json::array();
    for (const std::string& text : timer_.All("Timer", "OnCalendar")) {
      Express("OnCalendar", text);
      AddCalendar(text);
    }
    for (const std::string& text : timer_.All("Timer", "OnUnitActiveSec")) {
      Express("OnUnitActiveSec", text);
      AddEvery(text, "rate");
    }
    for (const std::string& text : timer_.All("Timer", "OnUnitInactiveSec")) {
      Express("OnUnitInactiveSec", text);
      AddEvery(text, "delay");
    }
    for (const char* setting : {"OnBootSec", "OnStartupSec", "OnActiveSec"}) {
      const std::string text = Last(setting);
      if (text.empty()) continue;
      Express(setting, text);
      if (job_["schedules"].empty()) {
        refusals_.push_back(fmt::format(
            "{} alone: a job does not belong to one machine, so nothing starts it at a boot",
            setting));
      } else {
        row_.remarks.push_back(fmt::format("left out: {}, there is no boot here", setting));
      }
    }
    if (row_.expression.empty()) refusals_.emplace_back("the timer has no time");
  }

  void AddCalendar(const std::string& text) {
    const auto calendar = ConvertSystemdCalendar(text);
    if (!calendar.ok()) return refusals_.push_back(calendar.error().message);
    const std::string& zone =
        calendar->time_zone.empty() ? options_.time_zone : calendar->time_zone;
    if (zone.empty()) {
      return refusals_.push_back("OnCalendar names no time zone: give that of the machine");
    }
    if (job_["time_zone"] == "") job_["time_zone"] = zone;
    job_["schedules"].push_back(
        {{"kind", "cron"}, {"cron_expression", calendar->expression}, {"time_zone", zone}});
  }

  void AddEvery(const std::string& text, const char* kind) {
    const auto span = ReadSystemdSpan(text);
    if (!span || *span < kMicrosPerMs) return refusals_.push_back("cannot read the time " + text);
    if (job_["time_zone"] == "") job_["time_zone"] = "UTC";
    job_["schedules"].push_back({{"kind", kind}, {"every_ms", *span / kMicrosPerMs}});
    if (std::string_view(kind) == "rate") {
      row_.remarks.emplace_back(
          "OnUnitActiveSec counts from the start of the last run, here from a fixed time");
    }
  }

  void SetMisfires() {
    job_["misfire_policy"] = timer_.Flag("Timer", "Persistent") ? "latest" : "skip";
  }

  void SetJitter() {
    const std::string text = Last("RandomizedDelaySec");
    if (text.empty()) return;
    const auto span = ReadSystemdSpan(text);
    if (!span) return refusals_.push_back("cannot read the time " + text);
    if (*span > kJitterMaxMicros) {
      row_.remarks.push_back("RandomizedDelaySec " + text + " becomes one hour");
    }
    const int64_t seconds = std::min(*span, kJitterMaxMicros) / kMicrosPerS;
    if (seconds == 0) return;
    for (json& schedule : job_["schedules"]) {
      if (schedule["kind"] != "delay") schedule["jitter_s"] = seconds;
    }
  }

  void SetWork(const std::string& stem) {
    const auto named = ReplaceSpecifiers(Last("Unit"), name_);
    if (!named.ok()) return refusals_.push_back("Unit: " + named.error().message);
    const std::string service = named->empty() ? stem + ".service" : *named;
    if (!service.ends_with(".service")) {
      return refusals_.push_back("it starts " + service + ", which is no service");
    }
    const SystemdUnit* unit = FindUnit(units_, service);
    if (unit == nullptr) {
      return refusals_.push_back("its service " + service + " is not among the files");
    }
    SystemdWork work = ConvertService(*unit, service);
    std::move(work.refusals.begin(), work.refusals.end(), std::back_inserter(refusals_));
    std::move(work.remarks.begin(), work.remarks.end(), std::back_inserter(row_.remarks));
    job_.update(work.job);
    std::string description = unit->Last("Unit", "Description");
    if (description.empty()) description = timer_.Last("Unit", "Description");
    const auto shown = ReplaceSpecifiers(description, service);
    if (shown.ok() && !shown->empty()) job_["name"] = *shown;
  }

  const Units& units_;
  const std::string name_;
  const SystemdUnit& timer_;
  const ImportOptions& options_;
  ImportedRow row_;
  json job_;
  std::vector<std::string> refusals_;
};

}  // namespace

Result<ImportResult> ImportSystemdTimers(const std::vector<ImportFile>& files,
                                         const ImportOptions& options) {
  SystemdUnits read = ReadSystemdUnits(files);
  ImportWriter writer(ImportKind::kSystemd, options);
  for (ImportedRow& row : read.unread) writer.Refuse(std::move(row));
  bool found = false;
  for (const auto& [name, unit] : read.units) {
    if (!name.ends_with(kTimerSuffix)) continue;
    found = true;
    TimerReader(read.units, name, unit, options).Write(writer);
  }
  if (found) return writer.Take();
  return Error{ErrorCode::kInvalid,
               "no timer in it; give X.timer and X.service, or the output of systemctl cat"};
}

}  // namespace carillon
