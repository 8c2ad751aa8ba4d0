#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/crontab/commands.h"
#include "cli/crontab/import_entries.h"
#include "cli/crontab/import_rehearsal.h"
#include "cli/jobs/commands.h"
#include "common/domain/isolation.h"
#include "common/domain/schedule/zone.h"
#include "common/imports/crontab.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct ImportArguments {
  std::string file = "-";
  std::string zone;
  std::string name_space;
  std::string prefix;
  bool system = false;
  bool apply = false;
  bool dry_run = false;
};

void PrintLines(Session& session, const std::string& what, const std::vector<CrontabLine>& lines) {
  for (const CrontabLine& line : lines) {
    const std::string file = line.file.empty() ? "" : Cell(line.file) + ", ";
    session.Say(file + "line " + std::to_string(line.number) + what + ": " + line.why + "  (" +
                Cell(line.text) + ")");
  }
}

struct Crontabs {
  std::vector<CrontabFile> files;
  bool complete = true;  // no file was left out that a cron reads
};

// A file of a directory of crontabs. A FIFO would keep the command waiting for ever.
Outcome<std::string> ReadCrontabOf(Session& session, const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return UsageFailure(path + " is no regular file");
  }
  return ReadInput(session.host(), path);
}

// The names in a directory, but for those of directories.
Outcome<std::vector<std::string>> NamesIn(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entries(path, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code unknown;
    if (!entries->is_directory(unknown)) names.push_back(entries->path().filename());
  }
  if (error) return UsageFailure("cannot read " + path + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// Reads a file, or the crontabs of a directory in the order of their names: of one such as
// /etc/cron.d, or of one such as /var/spool/cron, where each file has the name of its user. A file
// that cannot be read costs none of the others.
Outcome<Crontabs> ReadCrontabs(Session& session, const std::string& path, bool system) {
  Crontabs read;
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) {
    read.files.emplace_back();
    CARILLON_ASSIGN_OR_RETURN(read.files.back().text, ReadInput(session.host(), path));
    return read;
  }
  CARILLON_ASSIGN_OR_RETURN(const auto names, NamesIn(path));
  for (const std::string& name : names) {
    if (!IsCrontabName(name)) {
      session.Say(Cell(name) + " skipped: cron does not read files of this name");
      continue;
    }
    // Every cron reads the file of a user whose name has a dot.
    if (system && name.find('.') != std::string::npos) {
      session.Say(Cell(name) +
                  " skipped: Debian's cron does not read names with a dot; if yours does, import "
                  "the file by itself");
      read.complete = false;
      continue;
    }
    auto text = ReadCrontabOf(session, path + "/" + name);
    if (!text.ok()) {
      session.Say(Cell(name) + " skipped: " + Cell(text.error().message));
      read.complete = false;
      continue;
    }
    const bool of_user = !system && IsUserName(name);
    read.files.push_back(
        {.name = name, .text = *std::move(text), .user = of_user ? name : std::string()});
  }
  if (read.files.empty()) return UsageFailure("no crontab in " + path);
  return read;
}

// Collects the created jobs for one table at the end. In forms other than a table, prints the
// job now.
void PrintCreated(Session& session, json& created, const json& job) {
  if (session.Print().form() != Form::kTable || session.flags().quiet) {
    return PrintJob(session, job);
  }
  created["items"].push_back(job);
  created["items"].back()["schedule"] = ScheduleSummary(job);
}

std::function<Outcome<json>(const std::string&)> FindIn(Session& session) {
  return [&session](const std::string& id) -> Outcome<json> {
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse found, session.Call({.path = JobPath(id)}));
    return found.body;
  };
}

// Sends each job in a request of its own, so that a rejected job does not affect other jobs.
Outcome<ExitCode> Apply(Session& session, const std::vector<json>& jobs) {
  const auto create = [&session](const json& job) -> Outcome<json> {
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse created,
        session.Call({.method = "POST", .path = "/api/jobs", .body = job, .idempotent = true}));
    SayWarnings(session, created.body, job.value("job_id", std::string()) + ": ");
    return created.body;
  };
  const auto entries = ImportEntries(jobs, {.create = create, .find = FindIn(session)});
  Outcome<ExitCode> exit = ExitCode::kDone;
  json shown = {{"items", json::array()}};
  for (const ImportedEntry& entry : entries) {
    if (entry.kind == ImportedEntry::Kind::kCreated) {
      PrintCreated(session, shown, entry.job);
      continue;
    }
    exit = entry.failure ? entry.failure->exit : ExitCode::kConflict;
    if (exit.value() == ExitCode::kUnreachable || exit.value() == ExitCode::kDenied) {
      exit = *entry.failure;
      break;
    }
    session.Say(NotCreated(entry));
  }
  if (!shown["items"].empty()) session.Print().List(shown, JobView());
  return exit;
}

// Prints the outcome that Apply would have.
Outcome<ExitCode> DryRun(Session& session, const std::vector<json>& jobs) {
  CARILLON_ASSIGN_OR_RETURN(Rehearsal rehearsal, Rehearse(session, jobs));
  json& planned = rehearsal.planned["items"];
  const auto create = [&planned](const json& job) -> Outcome<json> {
    for (const json& item : planned) {
      if (item["job_id"] != job["job_id"]) continue;
      if (item["result"] == "created") return job;
      return Failure{.exit = ExitCode::kConflict,
                     .code = item["result"] == "exists" ? "exists" : "refused"};
    }
    return Failure{.code = "refused"};
  };
  const auto entries = ImportEntries(jobs, {.create = create, .find = FindIn(session)});
  json fates = planned;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind == ImportedEntry::Kind::kFailed) continue;
    const bool created = entries[i].kind == ImportedEntry::Kind::kCreated;
    const bool there = entries[i].kind == ImportedEntry::Kind::kThere;
    fates[i]["result"] = created ? "created" : "exists";
    fates[i]["job_id"] = (there ? entries[i].stored : entries[i].job).value("job_id", json());
  }
  planned = std::move(fates);
  return ShowPlanned(session, std::move(rehearsal));
}

Outcome<ExitCode> ImportCrontab(Session& session, const ImportArguments& arguments) {
  CrontabOptions options{
      .system = arguments.system, .time_zone = arguments.zone, .id_prefix = arguments.prefix};
  if (options.time_zone.empty()) {
    options.time_zone = LocalZone(session.host());
    session.Say("Using time zone " + options.time_zone + " (change with --tz).");
  }
  CARILLON_TRY(Zone::Load(options.time_zone));
  CARILLON_ASSIGN_OR_RETURN(const Crontabs crontabs,
                            ReadCrontabs(session, arguments.file, arguments.system));
  CrontabImport import = ParseCrontabs(crontabs.files, options);
  if (!arguments.name_space.empty()) {
    for (json& job : import.jobs) job["namespace"] = arguments.name_space;
  }
  PrintLines(session, "", import.remarks);
  PrintLines(session, " skipped", import.refused);
  if (arguments.apply || arguments.dry_run) {
    CARILLON_ASSIGN_OR_RETURN(const ExitCode applied, arguments.dry_run
                                                          ? DryRun(session, import.jobs)
                                                          : Apply(session, import.jobs));
    if (applied != ExitCode::kDone) return applied;
  } else {
    Printer print = session.Print();
    const json document = {{"jobs", import.jobs}};
    if (print.form() == Form::kJson || print.form() == Form::kJsonl) {
      print.Object(document, JobView());
    } else {
      session.host().out << WriteYaml(document);
    }
  }
  const bool complete = import.refused.empty() && crontabs.complete;
  return complete ? ExitCode::kDone : ExitCode::kFailure;
}

}  // namespace

void AddImportCommands(CLI::App& app, Session& session) {
  CLI::App* import = app.add_subcommand("import", "Import jobs from another scheduler");
  import->require_subcommand(1);
  const auto a = std::make_shared<ImportArguments>();  // shared with the callback
  CLI::App* crontab = import->add_subcommand(
      "crontab",
      "Convert a crontab: prints YAML, or creates the jobs with --apply; exits with 1 if a line "
      "was skipped");
  crontab->add_option("file", a->file,
                      "Crontab file, or a directory of them; - reads standard input "
                      "(default)");
  crontab->add_flag("--system", a->system, "System crontab, with a user field as in /etc/crontab");
  crontab->add_option("--tz", a->zone, "Time zone of the entries (default: that of this machine)");
  crontab->add_option("--namespace", a->name_space, "Namespace of the jobs")->check(NotEmpty);
  crontab->add_option("--prefix", a->prefix, "Prefix of the job IDs, e.g. web1-")->check(NotEmpty);
  CLI::Option* apply = crontab->add_flag("--apply", a->apply, "Create the jobs");
  crontab
      ->add_flag("--dry-run", a->dry_run,
                 "Show what --apply would create, without changing anything")
      ->excludes(apply);
  session.On(crontab, [&session, a] { return ImportCrontab(session, *a); });
  AddSchedulerImports(*import, session);
}

}  // namespace carillon::cli
