#include "cli/jobs/job_files.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/wire/json/job/job_fields.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kFilesMax = 10'000;

bool HoldsJobs(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

// Returns `name`. If `name` is a directory, returns the files in the directory instead.
Outcome<std::vector<std::string>> FilesOf(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (name == "-" || !fs::is_directory(name, error)) return std::vector{name};
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(name, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory(error)) at.disable_recursion_pending();
    if (hidden || !at->is_regular_file(error) || !HoldsJobs(at->path())) continue;
    files.push_back(at->path().string());
    if (files.size() > kFilesMax) return UsageFailure(name + " contains more than 10,000 files");
  }
  if (error) return UsageFailure("cannot read " + name + ": " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

// Returns `job`, the part of a document at `prefix`, with the line numbers of this part.
JobDocument PartOf(const YamlDocument& document, const std::string& file, const json& job,
                   const std::string& prefix) {
  JobDocument part{.job = job, .file = file};
  for (const auto& [pointer, line] : document.lines) {
    const bool within = pointer.starts_with(prefix) &&
                        (pointer.size() == prefix.size() || pointer[prefix.size()] == '/');
    if (within) part.lines.emplace(pointer.substr(prefix.size()), line);
  }
  return part;
}

Outcome<bool> TakeDocument(const YamlDocument& document, const std::string& file,
                           std::vector<JobDocument>& jobs) {
  if (document.value.is_null()) return true;
  const bool wrapped =
      document.value.is_object() && document.value.size() == 1 && document.value.contains("jobs");
  const json& value = wrapped ? document.value["jobs"] : document.value;
  const std::string prefix = wrapped ? "/jobs" : "";
  std::vector<JobDocument> taken;
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      taken.push_back(PartOf(document, file, value[i], prefix + "/" + std::to_string(i)));
    }
  } else {
    taken.push_back(PartOf(document, file, value, prefix));
  }
  for (JobDocument& job : taken) {
    if (!job.job.is_object())
      return UsageFailure(job.Place() + ": a job must be a mapping of field names to values");
    if (job.job.contains("apiVersion") && job.job.contains("kind")) {
      return UsageFailure(job.Place() +
                          ": a manifest of Kubernetes is no job; CronJobs become jobs by `carillon "
                          "import cronjob`");
    }
    jobs.push_back(std::move(job));
  }
  return true;
}

}  // namespace

int JobDocument::Line(const std::string& pointer) const {
  for (std::string at = pointer;; at.erase(at.rfind('/'))) {
    const auto found = lines.find(at);
    if (found != lines.end()) return found->second;
    if (at.rfind('/') == std::string::npos) return 1;
  }
}

std::string JobDocument::Place(const std::string& pointer) const {
  return file + ":" + std::to_string(Line(pointer));
}

Outcome<std::vector<JobDocument>> ReadJobFiles(Session& session,
                                               const std::vector<std::string>& names) {
  std::vector<JobDocument> jobs;
  for (const std::string& name : names) {
    CARILLON_ASSIGN_OR_RETURN(const auto files, FilesOf(name));
    for (const std::string& file : files) {
      CARILLON_ASSIGN_OR_RETURN(const std::string text, ReadInput(session.host(), file));
      const auto documents = ReadYamlDocuments(text, file);
      if (!documents.ok()) return UsageFailure(documents.error().message);
      for (const YamlDocument& document : *documents) {
        CARILLON_TRY(TakeDocument(document, file, jobs));
      }
    }
  }
  return jobs;
}

json AsWritten(const json& job, bool with_owner) {
  json defaults = DefinitionToJson(JobDefinition{});
  defaults["routing_key"] = "";
  // The other fields that a job without them does not show.
  for (const std::string_view name : JobFieldNames()) {
    if (name != "job_id" && name != "cron_expression") defaults.emplace(name, nullptr);
  }
  if (job.value("type", json()) == "workflow") defaults["timeout"] = kWorkflowTimeoutS;
  json written = json::object();
  for (const auto& [name, value] : job.items()) {
    const auto fallback = defaults.find(name);
    const bool known = fallback != defaults.end() || name == "job_id";
    if (!known || (name == "user_id" && !with_owner)) continue;
    if (fallback == defaults.end() || *fallback != value) written[name] = value;
  }
  const json cron = job.value("cron_expression", json(nullptr));
  if (!cron.is_null()) {
    written.erase("schedules");
    written["cron_expression"] = cron;
  } else if (written.contains("schedules") && written["schedules"].is_array()) {
    const json zone = job.value("time_zone", json("UTC"));
    const json start = FormatRfc3339(ScheduleSpec{}.start);
    for (json& schedule : written["schedules"]) {
      if (!schedule.is_object()) continue;
      schedule.erase("schedule_id");
      if (schedule.value("time_zone", json(nullptr)) == zone) schedule.erase("time_zone");
      if (schedule.value("start_time", json(nullptr)) == start) schedule.erase("start_time");
    }
  }
  return written;
}

std::string TitleOf(const JobDocument& document) {
  for (const char* name : {"job_id", "name"}) {
    const auto found = document.job.find(name);
    if (found != document.job.end() && found->is_string()) return found->get<std::string>();
  }
  return document.Place();
}

}  // namespace carillon::cli
