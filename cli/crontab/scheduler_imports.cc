// `carillon import xxl-job`, `cronjob` and `systemd`.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/crontab/commands.h"
#include "cli/crontab/import_rehearsal.h"
#include "common/domain/schedule/zone.h"
#include "common/imports/import_result.h"
#include "common/imports/systemd/systemd_files.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kSourceBytesMax = 256u << 20;  // of all files together

struct SourceArguments {
  std::vector<std::string> files;
  std::string zone;
  std::string map;
  std::string name_space;
  std::string prefix;
  std::string report;
  bool apply = false;
  bool dry_run = false;
};

// A dump may be far larger than what the API takes.
Outcome<std::string> ReadSource(Host& host, const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(host.in), {});
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  if (!unknown && size > kSourceBytesMax) return UsageFailure(path + " is larger than 256 MiB");
  std::ifstream in(path, std::ios::binary);
  if (!in) return UsageFailure("cannot read " + path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return UsageFailure("cannot read " + path);
  return text;
}

bool IsSource(ImportKind kind, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  switch (kind) {
    case ImportKind::kCronJob: return ending == ".yaml" || ending == ".yml" || ending == ".json";
    case ImportKind::kSystemd: return ending == ".timer" || ending == ".service";
    case ImportKind::kXxlJob: return ending == ".sql";
    case ImportKind::kCrontab: break;
  }
  return false;
}

// Adds the files of this kind in a directory; of units of systemd also their drop-ins.
Outcome<ExitCode> AddPathsIn(ImportKind kind, const std::string& name,
                             std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool drop_ins =
      kind == ImportKind::kSystemd && IsDropInFolder(fs::path(name).filename().string());
  fs::directory_iterator entries(name, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code unknown;
    const fs::path& path = entries->path();
    if (entries->is_regular_file(unknown)) {
      const bool wanted = drop_ins ? path.extension() == ".conf" : IsSource(kind, path);
      if (wanted) paths.push_back(path.string());
    } else if (kind == ImportKind::kSystemd && entries->is_directory(unknown) &&
               IsDropInFolder(path.filename().string())) {
      CARILLON_TRY(AddPathsIn(kind, path.string(), paths));
    }
  }
  if (error) return UsageFailure("cannot read " + name + ": " + error.message());
  return ExitCode::kDone;
}

// The files themselves; in place of a directory those of this kind in it.
Outcome<std::vector<std::string>> PathsOf(ImportKind kind, const std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    std::error_code unknown;
    if (!fs::is_directory(name, unknown)) {
      // The folder of a drop-in names its unit.
      const bool drop_in = kind == ImportKind::kSystemd && name.ends_with(".conf");
      paths.push_back(drop_in ? fs::absolute(name, unknown).string() : name);
      continue;
    }
    const size_t before = paths.size();
    CARILLON_TRY(AddPathsIn(kind, fs::path(name).lexically_normal().string(), paths));
    if (paths.size() == before) return UsageFailure("nothing to import in " + name);
    std::sort(paths.begin() + static_cast<ptrdiff_t>(before), paths.end());
  }
  return paths;
}

Outcome<std::vector<ImportFile>> ReadSources(Session& session, ImportKind kind,
                                             const std::vector<std::string>& names) {
  CARILLON_ASSIGN_OR_RETURN(const auto paths, PathsOf(kind, names));
  std::vector<ImportFile> files;
  for (const std::string& path : paths) {
    ImportFile& file = files.emplace_back();
    if (path != "-") file.name = path;
    CARILLON_ASSIGN_OR_RETURN(file.text, ReadSource(session.host(), path));
    if (!ReadsDocuments(kind)) continue;
    auto documents = ReadYamlDocuments(file.text, path);
    if (!documents.ok()) {
      if (paths.size() == 1) return UsageFailure(documents.error().message);
      file.fault = documents.error().message;
      continue;
    }
    for (YamlDocument& one : *documents) file.documents.push_back(std::move(one.value));
  }
  return files;
}

// Reads {"name there": "name here"}.
Outcome<std::map<std::string, std::string>> ReadNames(Session& session, const std::string& path) {
  std::map<std::string, std::string> names;
  if (path.empty()) return names;
  CARILLON_ASSIGN_OR_RETURN(const std::string text, ReadInput(session.host(), path));
  const auto document = ReadYaml(text);
  if (!document.ok()) return UsageFailure(path + ": " + document.error().message);
  if (!document->is_object()) return UsageFailure(path + ": write one `name: new name` a line");
  for (const auto& [name, value] : document->items()) {
    if (!value.is_string()) return UsageFailure(path + ": the new name of " + name + " is no text");
    names[name] = value;
  }
  return names;
}

Outcome<ImportOptions> OptionsOf(Session& session, ImportKind kind,
                                 const SourceArguments& arguments) {
  ImportOptions options{.time_zone = arguments.zone, .id_prefix = arguments.prefix};
  if (options.time_zone.empty() && kind == ImportKind::kXxlJob) {
    return UsageFailure("give the time zone of the XXL-JOB server, e.g. --tz Asia/Shanghai");
  }
  if (!options.time_zone.empty()) CARILLON_TRY(Zone::Load(options.time_zone));
  CARILLON_ASSIGN_OR_RETURN(options.names, ReadNames(session, arguments.map));
  return options;
}

// Tells what became of each row that is not simply mapped, and the numbers of all.
void TellRows(Session& session, const std::vector<ImportedRow>& rows) {
  std::map<Verdict, int64_t> counts;
  for (const ImportedRow& row : rows) {
    ++counts[row.verdict];
    const std::string what = row.verdict == Verdict::kRefused ? " skipped: " : ": ";
    for (const std::string& remark : row.remarks) session.Say(row.source + what + remark);
  }
  session.Say(std::to_string(counts[Verdict::kMapped]) + " mapped, " +
              std::to_string(counts[Verdict::kRemarked]) + " mapped with remarks, " +
              std::to_string(counts[Verdict::kRefused]) + " refused.");
}

// A paragraph for each row: its verdict, its schedule with the next fires, its remarks.
std::string ReportText(const json& rows) {
  std::string text;
  for (const json& row : rows) {
    text += row["verdict"].get<std::string>() + "  " + row["source"].get<std::string>();
    if (row["job_id"].is_string()) text += "  ->  " + row["job_id"].get<std::string>();
    text += "\n";
    if (row["expression"].is_string()) {
      text += "    " + row["expression"].get<std::string>() + "\n";
    }
    for (const json& fire : row["next"]) text += "      " + fire.get<std::string>() + "\n";
    for (const json& remark : row["remarks"]) text += "    " + remark.get<std::string>() + "\n";
  }
  return text;
}

Outcome<ExitCode> WriteReport(Session& session, const std::string& path,
                              const ImportResult& result) {
  const json rows = ImportToJson(result, session.host().clock.Wall())["rows"];
  const bool as_json = path.ends_with(".json");
  std::ofstream out(path, std::ios::binary);
  out << (as_json ? json{{"rows", rows}}.dump(2) + "\n" : ReportText(rows));
  out.close();
  if (!out) return UsageFailure("cannot write " + path);
  return ExitCode::kDone;
}

// An action takes 1,000 jobs at most, in the background 20,000. Because of the status, the command
// can be repeated for more.
std::string HowToResume(ImportKind kind) {
  const std::string name(Name(kind));
  const bool told = kind != ImportKind::kSystemd;  // an import knows which ones ran
  return "The jobs are paused. To resume them: carillon bulk resume --background --filter "
         "status=PAUSED --filter selector=imported-from=" +
         name + (told ? ",was-running=yes" : "");
}

// Creates the jobs of a list that do not exist yet.
Outcome<ExitCode> CreateJobs(Session& session, ImportKind kind, const std::vector<json>& jobs) {
  CARILLON_ASSIGN_OR_RETURN(const Rehearsal created, CreateMissing(session, jobs));
  session.Print().List(created.planned, PlannedView());
  const json& items = created.planned["items"];
  const bool resumable = std::any_of(items.begin(), items.end(),
                                     [](const json& item) { return item["result"] != "error"; });
  if (resumable) session.Say(HowToResume(kind));
  return created.exit;
}

Outcome<ExitCode> ImportSources(Session& session, ImportKind kind,
                                const SourceArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const ImportOptions options, OptionsOf(session, kind, arguments));
  CARILLON_ASSIGN_OR_RETURN(const auto files, ReadSources(session, kind, arguments.files));
  auto read = ImportJobs(kind, files, options);
  if (!read.ok()) return UsageFailure(read.error().message);
  ImportResult result = std::move(read).value();
  if (!arguments.name_space.empty()) {
    for (json& job : result.jobs) job["namespace"] = arguments.name_space;
  }
  TellRows(session, result.rows);
  if (!arguments.report.empty()) CARILLON_TRY(WriteReport(session, arguments.report, result));
  if (arguments.apply || arguments.dry_run) {
    CARILLON_ASSIGN_OR_RETURN(const ExitCode applied, arguments.dry_run
                                                          ? ShowRehearsal(session, result.jobs)
                                                          : CreateJobs(session, kind, result.jobs));
    if (applied != ExitCode::kDone) return applied;
  } else {
    Printer print = session.Print();
    const json document = {{"jobs", result.jobs}};
    if (print.form() == Form::kJson || print.form() == Form::kJsonl) {
      print.Object(document, PlannedView());
    } else {
      session.host().out << WriteYaml(document);
    }
  }
  const bool complete =
      std::none_of(result.rows.begin(), result.rows.end(),
                   [](const ImportedRow& row) { return row.verdict == Verdict::kRefused; });
  return complete ? ExitCode::kDone : ExitCode::kFailure;
}

struct SourceKind {
  ImportKind kind;
  const char* help;
  const char* files;
  const char* zone;
};

}  // namespace

void AddSchedulerImports(CLI::App& import, Session& session) {
  constexpr std::array<SourceKind, 3> kKinds{
      {{ImportKind::kXxlJob, "Convert the jobs of XXL-JOB",
        "mysqldump of xxl_job_info and xxl_job_group, or a directory of *.sql; - reads standard "
        "input",
        "Time zone of the XXL-JOB server, e.g. Asia/Shanghai (required)"},
       {ImportKind::kCronJob, "Convert CronJobs of Kubernetes",
        "Manifests as YAML or JSON, or a directory of them; - reads standard input",
        "Time zone of manifests without timeZone: that of the controller manager"},
       {ImportKind::kSystemd, "Convert timers of systemd with their services",
        "Unit files, a directory of them, or the output of systemctl cat; - reads standard input",
        "Time zone of timers that name none: that of the machine"}}};
  for (const SourceKind& kind : kKinds) {
    const auto a = std::make_shared<SourceArguments>();  // shared with the callback
    CLI::App* verb = import.add_subcommand(
        std::string(Name(kind.kind)),
        std::string(kind.help) +
            ", paused: prints YAML, or creates them with --apply; exits with 1 if one was skipped");
    verb->add_option("file", a->files, kind.files)->required();
    verb->add_option("--tz,--time-zone", a->zone, kind.zone);
    if (kind.kind == ImportKind::kXxlJob) {
      verb->add_option("--map", a->map,
                       "YAML file with names of executors and handlers, and those to use instead: "
                       "closeDayHandler: billing/close_day")
          ->check(NotEmpty);
    }
    verb->add_option("--namespace", a->name_space, "Namespace of the jobs")->check(NotEmpty);
    verb->add_option("--prefix", a->prefix, "Prefix of the job IDs, e.g. old-")->check(NotEmpty);
    verb->add_option("--report", a->report,
                     "Write what became of each row, with its next fires, to this file; as JSON if "
                     "it ends in .json")
        ->check(NotEmpty);
    CLI::Option* apply = verb->add_flag("--apply", a->apply, "Create the jobs");
    verb->add_flag("--dry-run", a->dry_run,
                   "Show what --apply would create, without changing anything")
        ->excludes(apply);
    session.On(verb, [&session, a, of = kind.kind] { return ImportSources(session, of, *a); });
  }
}

}  // namespace carillon::cli
