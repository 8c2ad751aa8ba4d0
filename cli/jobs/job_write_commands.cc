#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"
#include "cli/jobs/job_flags.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct WriteArguments {
  std::string id;
  std::string file;
  int64_t if_version = 0;
  bool resume = false;
  JobFlags flags;
};

Outcome<json> ReadDefinition(Session& session, const std::string& file) {
  if (file.empty()) return json::object();
  CARILLON_ASSIGN_OR_RETURN(const std::string text, ReadInput(session.host(), file));
  auto document = ReadYaml(text);
  if (!document.ok()) return UsageFailure(file + ": " + document.error().message);
  if (!document->is_object())
    return UsageFailure(file + ": a job must be a mapping of field names to values");
  return std::move(document).value();
}

Outcome<ExitCode> Create(Session& session, const WriteArguments& arguments) {
  if (arguments.file.empty() && arguments.flags.empty()) {
    return UsageFailure("job create needs flags (--name, --command, …) or -f FILE");
  }
  CARILLON_ASSIGN_OR_RETURN(json body, ReadDefinition(session, arguments.file));
  CARILLON_ASSIGN_OR_RETURN(body, ApplyJobFlags(arguments.flags, std::move(body)));
  if (!arguments.id.empty()) body["job_id"] = arguments.id;
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse job,
      session.Call(
          {.method = "POST", .path = "/api/jobs", .body = std::move(body), .idempotent = true}));
  PrintJob(session, job.body);
  SayWarnings(session, job.body);
  return ExitCode::kDone;
}

std::string TagOf(int64_t version) { return "\"v" + std::to_string(version) + "\""; }

Outcome<ExitCode> Put(Session& session, const WriteArguments& arguments, const json& body,
                      const std::string& tag) {
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse job,
      session.Call(
          {.method = "PUT", .path = JobPath(arguments.id), .body = body, .if_match = tag}));
  PrintJob(session, job.body);
  SayWarnings(session, job.body);
  return ExitCode::kDone;
}

// Returns the ETag of the version that an edit is based on: the version of --if-version, or else
// the version in the file, or else the current version.
Outcome<std::string> BaseTag(Session& session, const WriteArguments& arguments, const json& body) {
  if (arguments.if_version > 0) return TagOf(arguments.if_version);
  const auto version = body.find("version");
  if (version != body.end() && version->is_number_integer()) return TagOf(version->get<int64_t>());
  return CurrentTag(session, JobPath(arguments.id));
}

Outcome<ExitCode> EditByFile(Session& session, const WriteArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(json body, ReadDefinition(session, arguments.file));
  CARILLON_ASSIGN_OR_RETURN(const std::string tag, BaseTag(session, arguments, body));
  CARILLON_ASSIGN_OR_RETURN(body, ApplyJobFlags(arguments.flags, std::move(body)));
  if (arguments.resume) body["enabled"] = true;
  return Put(session, arguments, body, tag);
}

Outcome<ExitCode> EditByFlags(Session& session, const WriteArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const std::string tag, BaseTag(session, arguments, json::object()));
  CARILLON_ASSIGN_OR_RETURN(json patch,
                            ApplyJobFlags(arguments.flags, json::object(), FlagsBody::kPatch));
  if (arguments.resume) patch["enabled"] = true;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse job, session.Call({.method = "PATCH",
                                                                 .path = JobPath(arguments.id),
                                                                 .body = std::move(patch),
                                                                 .if_match = tag}));
  PrintJob(session, job.body);
  SayWarnings(session, job.body);
  return ExitCode::kDone;
}

// Returns the job for the editor: without read-only fields. The schedules are in one form only,
// `cron_expression` or `schedules`.
json Editable(json job) {
  constexpr std::array kReadOnly = {
      "version",      "state",     "next_fire_time",  "create_time",      "update_time",
      "pause_reason", "paused_by", "allowed_actions", "schedule_problem", "warnings"};
  for (const char* name : kReadOnly) job.erase(name);
  if (job.contains("cron_expression") && !job["cron_expression"].is_null()) {
    job.erase("schedules");
    return job;
  }
  job.erase("cron_expression");
  if (job.contains("schedules") && job["schedules"].is_array()) {
    for (json& schedule : job["schedules"]) schedule.erase("schedule_id");
  }
  return job;
}

// Writes the text to a temporary file and returns its path. Only this user can read the file,
// because a job's environment may be confidential.
Outcome<std::string> WriteDraft(const std::string& text) {
  std::string path = (std::filesystem::temp_directory_path() / "carillon-XXXXXX.yaml").string();
  const int file = mkstemps(path.data(), 5);
  if (file < 0) return UsageFailure("cannot write a draft to " + path);
  close(file);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return UsageFailure("cannot write " + path);
  return path;
}

Outcome<ExitCode> EditByHand(Session& session, const WriteArguments& arguments) {
  if (!session.host().in_is_tty) {
    return UsageFailure(
        "job edit needs flags or -f FILE; without them it opens an editor, which needs a "
        "terminal");
  }
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse job, session.Call({.path = JobPath(arguments.id)}));
  if (job.body.contains("problem")) {
    return UsageFailure(job.body["problem"].get<std::string>() +
                        " Use -f FILE with the whole job.");
  }
  const std::string before = WriteYaml(Editable(job.body));
  CARILLON_ASSIGN_OR_RETURN(const std::string draft, WriteDraft(before));
  CARILLON_TRY(session.host().edit(draft));
  CARILLON_ASSIGN_OR_RETURN(const std::string after, ReadInput(session.host(), draft));
  if (after == before) {
    std::filesystem::remove(draft);
    session.Say("Nothing has changed.");
    return ExitCode::kDone;
  }
  const auto body = ReadYaml(after);
  auto outcome = body.ok() ? Put(session, arguments, *body, job.etag)
                           : Outcome<ExitCode>(UsageFailure(body.error().message));
  if (outcome.ok()) {
    std::filesystem::remove(draft);
  } else {
    session.Say("Your draft is kept in " + draft + ".");
  }
  return outcome;
}

}  // namespace

void SayWarnings(Session& session, const json& answer, const std::string& place) {
  if (!answer.is_object()) return;
  const json warnings = answer.value("warnings", json::array());
  if (!warnings.is_array()) return;
  for (const json& one : warnings) {
    if (!one.is_object()) continue;
    const std::string detail = one.value("detail", "");
    if (one.contains("schedule")) {
      session.Say(fmt::format("{}warning: schedule {}: {}", place,
                              one.value("schedule", int64_t{0}) + 1, detail));
    } else {
      session.Say(fmt::format("{}warning: {}", place, detail));
    }
  }
}

void AddJobWriteCommands(CLI::App& job, Session& session) {
  const auto created = std::make_shared<WriteArguments>();  // shared with the callback
  CLI::App* create = job.add_subcommand("create", "Create a job from flags or a file");
  create->add_option("-f,--file", created->file, "Job file, YAML or JSON; - reads standard input");
  create->add_option("--id", created->id, "Job ID (default: derived from the name)");
  AddJobFlags(create, created->flags);
  session.On(create, [&session, created] { return Create(session, *created); });

  const auto edited = std::make_shared<WriteArguments>();  // shared with the callback
  CLI::App* edit = job.add_subcommand("edit", "Edit a job with flags, a file or $EDITOR");
  edit->add_option("job", edited->id, "Job ID")->required();
  edit->add_option("-f,--file", edited->file,
                   "The whole job, YAML or JSON; - reads standard input");
  edit->add_option("--if-version", edited->if_version, "Fail unless this is the current version");
  edit->add_flag("--enabled", edited->resume, "Resume the job");
  AddJobFlags(edit, edited->flags);
  session.On(edit, [&session, edited]() -> Outcome<ExitCode> {
    if (!edited->file.empty()) return EditByFile(session, *edited);
    if (!edited->flags.empty() || edited->resume) return EditByFlags(session, *edited);
    return EditByHand(session, *edited);
  });
}

}  // namespace carillon::cli
