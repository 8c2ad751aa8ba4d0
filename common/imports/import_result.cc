#include "common/imports/import_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/domain/schedule/schedule.h"
#include "common/imports/crontab.h"
#include "common/imports/kubernetes_cronjob.h"
#include "common/imports/systemd/systemd_timer.h"
#include "common/imports/xxl_job/xxl_job.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr size_t kFiresShown = 5;
constexpr std::array<std::pair<ImportKind, std::string_view>, 4> kImportKinds{
    {{ImportKind::kCrontab, "crontab"},
     {ImportKind::kCronJob, "cronjob"},
     {ImportKind::kSystemd, "systemd"},
     {ImportKind::kXxlJob, "xxl-job"}}};

json NextFires(const json& job, WallTime now) {
  json times = json::array();
  const auto parsed = ParseJob(job);
  if (!parsed.ok()) return times;
  std::vector<WallTime> fires;
  for (const ScheduleSpec& spec : parsed->definition.schedules) {
    const auto schedule =
        Schedule::Compile(spec, parsed->definition.dst_gap, parsed->definition.dst_repeat);
    if (!schedule.ok() || schedule->kind() == ScheduleKind::kDelay) continue;
    WallTime after = now;
    for (size_t i = 0; i < kFiresShown; ++i) {
      const auto fire = schedule->Next(after);
      if (!fire) break;
      fires.push_back(fire->time);
      after = fire->time;
    }
  }
  std::sort(fires.begin(), fires.end());
  fires.erase(std::unique(fires.begin(), fires.end()), fires.end());
  fires.resize(std::min(fires.size(), kFiresShown));
  for (const WallTime fire : fires) times.push_back(FormatRfc3339(fire));
  return times;
}

json TextOrNull(const std::string& text) { return text.empty() ? json() : json(text); }

Result<ImportResult> ImportCrontabs(const std::vector<ImportFile>& files,
                                    const ImportOptions& options) {
  std::vector<CrontabFile> crontabs;
  for (const ImportFile& file : files) crontabs.push_back({.name = file.name, .text = file.text});
  CrontabImport import = ParseCrontabs(
      crontabs,
      {.system = options.system, .time_zone = options.time_zone, .id_prefix = options.id_prefix});
  std::map<std::pair<std::string, size_t>, ImportedRow> rows;  // by file and line
  const auto row_of = [&rows](const CrontabLine& line) -> ImportedRow& {
    ImportedRow& row = rows[{line.file, line.number}];
    row.source = fmt::format("{}{}line {}", line.file, line.file.empty() ? "" : ", ", line.number);
    return row;
  };
  ImportResult result;
  for (size_t i = 0; i < import.jobs.size(); ++i) {
    json& job = import.jobs[i];
    job["enabled"] = false;
    job["labels"]["imported-from"] = Name(ImportKind::kCrontab);
    ImportedRow& row = row_of(import.lines[i]);
    row.job_id = job["job_id"];
    row.expression = import.lines[i].why;
  }
  for (const CrontabLine& line : import.remarks) {
    ImportedRow& row = row_of(line);
    row.verdict = Verdict::kRemarked;
    row.remarks.push_back(line.why);
  }
  for (const CrontabLine& line : import.refused) {
    ImportedRow& row = row_of(line);
    row.verdict = Verdict::kRefused;
    row.remarks.push_back(line.why);
  }
  result.jobs = std::move(import.jobs);
  for (auto& [line, row] : rows) result.rows.push_back(std::move(row));
  if (result.rows.empty()) return Error{ErrorCode::kInvalid, "no entry of a crontab in it"};
  return result;
}

}  // namespace

std::string_view Name(ImportKind kind) { return kImportKinds.at(static_cast<size_t>(kind)).second; }

Result<ImportKind> ParseImportKind(std::string_view text) {
  for (const auto& [kind, name] : kImportKinds) {
    if (name == text) return kind;
  }
  return Error{ErrorCode::kInvalid, "must be crontab, cronjob, systemd or xxl-job"};
}

bool ReadsDocuments(ImportKind kind) { return kind == ImportKind::kCronJob; }

std::string_view Name(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"mapped", "remarked", "refused"};
  return kNames.at(static_cast<size_t>(verdict));
}

Result<ImportResult> ImportJobs(ImportKind kind, const std::vector<ImportFile>& files,
                                const ImportOptions& options) {
  for (const ImportFile& file : files) {
    const std::string_view text = file.text;
    if (kind == ImportKind::kCrontab ||
        !(text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))) {
      continue;
    }
    return Error{ErrorCode::kInvalid, fmt::format("{}{}it is UTF-16; save it as UTF-8", file.name,
                                                  file.name.empty() ? "" : ": ")};
  }
  switch (kind) {
    case ImportKind::kCrontab: return ImportCrontabs(files, options);
    case ImportKind::kCronJob: return ImportCronJobs(files, options);
    case ImportKind::kSystemd: return ImportSystemdTimers(files, options);
    case ImportKind::kXxlJob: return ImportXxlJob(files, options);
  }
  return Error{ErrorCode::kInvalid, "unknown kind"};
}

json ImportToJson(const ImportResult& result, WallTime now) {
  std::map<std::string, const json*> jobs;
  for (const json& job : result.jobs) jobs[job["job_id"].get<std::string>()] = &job;
  json rows = json::array();
  for (const ImportedRow& row : result.rows) {
    const auto job = jobs.find(row.job_id);
    rows.push_back({{"source", row.source},
                    {"verdict", Name(row.verdict)},
                    {"remarks", row.remarks},
                    {"job_id", TextOrNull(row.job_id)},
                    {"expression", TextOrNull(row.expression)},
                    {"next", job == jobs.end() ? json::array() : NextFires(*job->second, now)}});
  }
  return {{"jobs", result.jobs}, {"rows", std::move(rows)}};
}

}  // namespace carillon
