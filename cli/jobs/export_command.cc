#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "cli/jobs/commands.h"
#include "cli/jobs/job_files.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ExportArguments {
  std::string selector;
  std::vector<std::string> namespaces;
  std::vector<std::string> ids;
  std::string directory;
  bool with_owner = false;
};

// The fields that come first in a file, because readers look for them first.
const std::vector<std::string_view> kFirst = {
    "job_id", "name",    "namespace",       "description", "labels",
    "type",   "command", "cron_expression", "schedules",   "time_zone"};

std::string TextOf(const json& job, Form form) {
  return form == Form::kJson ? job.dump(2, ' ', false, json::error_handler_t::replace) + "\n"
                             : WriteYaml(job, kFirst);
}

// Returns false for a job whose definition cannot be read: what is known of it would make another
// job of it.
bool IsWhole(Session& session, const json& job) {
  if (!job.contains("problem")) return true;
  session.Say("Left out: " + job["problem"].get<std::string>());
  return false;
}

Outcome<std::vector<json>> Collect(Session& session, const ExportArguments& arguments) {
  std::vector<json> jobs;
  for (const std::string& id : arguments.ids) {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse job, session.Call({.path = JobPath(id)}));
    if (IsWhole(session, job.body)) jobs.push_back(AsWritten(job.body, arguments.with_owner));
  }
  if (!arguments.ids.empty()) return jobs;
  ApiRequest request{.path = "/api/jobs"};
  if (!arguments.selector.empty()) request.query.emplace_back("selector", arguments.selector);
  for (const std::string& one : arguments.namespaces) request.query.emplace_back("namespace", one);
  CARILLON_TRY(session.ReadPages(request, 0, [&](json page) {
    for (const json& job : page["items"]) {
      if (IsWhole(session, job)) jobs.push_back(AsWritten(job, arguments.with_owner));
    }
  }));
  return jobs;
}

Outcome<ExitCode> WriteFiles(Session& session, const std::vector<json>& jobs,
                             const std::string& directory, Form form) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return UsageFailure("cannot create " + directory + ": " + error.message());
  const std::string ending = form == Form::kJson ? ".json" : ".yaml";
  for (const json& job : jobs) {
    const std::string id = job.value("job_id", std::string("job"));
    const std::string path = fmt::format("{}/{}{}", directory, id, ending);
    std::ofstream out(path, std::ios::binary);
    out << TextOf(job, form);
    out.close();
    if (!out) return UsageFailure("cannot write " + path);
  }
  session.Say(Counted(static_cast<int64_t>(jobs.size()), "job") + " written to " + directory + ".");
  return ExitCode::kDone;
}

Outcome<ExitCode> Export(Session& session, const ExportArguments& arguments) {
  const Form form = session.Print().form();
  if (form != Form::kTable && form != Form::kYaml && form != Form::kJson) {
    return UsageFailure("export supports -o yaml and -o json only");
  }
  if (!arguments.ids.empty() && (!arguments.selector.empty() || !arguments.namespaces.empty())) {
    return UsageFailure("use either --job, or --selector and --namespace");
  }
  CARILLON_ASSIGN_OR_RETURN(const std::vector<json> jobs, Collect(session, arguments));
  if (!arguments.directory.empty()) return WriteFiles(session, jobs, arguments.directory, form);
  std::ostream& out = session.host().out;
  if (form == Form::kJson) {
    out << TextOf(jobs, form);
    return ExitCode::kDone;
  }
  for (const json& job : jobs) out << "---\n" << TextOf(job, form);
  if (jobs.empty()) session.Say("No jobs match.");
  return ExitCode::kDone;
}

}  // namespace

void AddExportCommand(CLI::App& app, Session& session) {
  const auto a = std::make_shared<ExportArguments>();  // shared with the callback
  CLI::App* verb =
      app.add_subcommand("export", "Export jobs in the format that `carillon apply` reads");
  verb->add_option("--selector", a->selector,
                   "Only jobs with matching labels, e.g. 'team = etl, !old'")
      ->check(NotEmpty);
  verb->add_option("--namespace", a->namespaces, "Only jobs in this namespace; repeatable")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  verb->add_option("--job-id,--job", a->ids, "Only this job; repeatable")->allow_extra_args(false);
  verb->add_option("-d,--directory", a->directory, "Write one file per job to this directory")
      ->check(NotEmpty);
  verb->add_flag("--with-owner", a->with_owner, "Include the owner of each job");
  session.On(verb, [&session, a] { return Export(session, *a); });
}

}  // namespace carillon::cli
