// apply, diff and validate: compare job files with a server, apply them, or check them locally.
#include <fmt/core.h>

#include <charconv>
#include <ostream>
#include <set>

#include "cli/jobs/commands.h"
#include "cli/jobs/job_files.h"
#include "cli/runs/node_text.h"
#include "common/domain/schedule/schedule_twins.h"
#include "common/wire/json/document_order.h"
#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

// The server accepts 500 jobs and 1 MiB in a request. Batches are smaller, so that the server
// answers well before the request times out. With --prune all jobs must be in one request.
constexpr size_t kBatchItemsMax = 100;
constexpr size_t kPruneItemsMax = 500;
constexpr size_t kBatchBytesMax = 900'000;

struct FileArguments {
  std::vector<std::string> files;
  std::string selector;
  std::string name_space;
  bool prune = false;
  bool dry_run = false;
};

using Documents = std::vector<JobDocument>;

const View& AppliedView() {
  static const View view{{{"RESULT", "result"},
                          {"JOB", "job_id"},
                          {"NAME", "name"},
                          {"VERSION", "version"},
                          {"CHANGED", "changed"},
                          {"PLACE", "place"}},
                         "job_id"};
  return view;
}

// Returns the index at which each batch starts, and last the number of documents. Each batch is as
// large as the limits allow.
Outcome<std::vector<size_t>> Batches(const Documents& documents, bool prune) {
  std::vector<size_t> starts = {0};
  const size_t most = prune ? kPruneItemsMax : kBatchItemsMax;
  size_t bytes = 0;
  for (size_t i = 0; i < documents.size(); ++i) {
    const size_t more = JsonToText(documents[i].job).size() + 1;
    const bool full = i - starts.back() >= most || bytes + more > kBatchBytesMax;
    if (full && i > starts.back()) {
      starts.push_back(i);
      bytes = 0;
    }
    bytes += more;
  }
  if (prune && starts.size() > 1) {
    return UsageFailure("--prune takes at most 500 jobs and 900 kB at once");
  }
  starts.push_back(documents.size());
  return starts;
}

// If the documents need several requests, puts each job before those that name it. Within one
// request, the server sorts.
Outcome<Documents> InOrder(Documents documents) {
  CARILLON_ASSIGN_OR_RETURN(const auto starts, Batches(documents, false));
  if (starts.size() <= 2) return documents;
  json jobs = json::array();
  for (const JobDocument& document : documents) jobs.push_back(document.job);
  Documents ordered;
  ordered.reserve(documents.size());
  for (const size_t i : UpstreamFirst(jobs)) ordered.push_back(std::move(documents[i]));
  return ordered;
}

Outcome<Documents> ReadAll(Session& session, const FileArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(Documents documents, ReadJobFiles(session, arguments.files));
  if (!documents.empty()) return InOrder(std::move(documents));
  if (arguments.prune) {
    return UsageFailure("the files contain no jobs; --prune would delete every matching job");
  }
  session.Say("The files contain no jobs.");
  return documents;
}

// Adds to an item of the server's response the place of its document in the files. Makes the item's
// index count all documents, not only those of the batch.
json Located(json item, const Documents& documents, size_t offset) {
  item["place"] = nullptr;
  if (!item.contains("index") || !item["index"].is_number_unsigned()) return item;
  const size_t local = item["index"].get<size_t>();
  if (local >= documents.size() - offset) return item;
  item["index"] = offset + local;
  item["place"] = documents[offset + local].Place();
  return item;
}

struct Applying {
  bool dry_run = false;
  bool prune = false;
  std::string selector;
  std::string name_space;  // for documents that name no namespace; empty = `default`
};

// Sends all documents and merges the responses into one.
Outcome<json> Send(Session& session, const Documents& documents, const Applying& how) {
  CARILLON_ASSIGN_OR_RETURN(const auto starts, Batches(documents, how.prune));
  json merged = {{"dry_run", how.dry_run}, {"items", json::array()}, {"counts", json::object()}};
  for (size_t batch = 0; batch + 1 < starts.size(); ++batch) {
    ApiRequest request{.method = "POST", .path = "/api/apply", .body = json::array()};
    request.idempotent = true;
    for (size_t i = starts[batch]; i < starts[batch + 1]; ++i) {
      request.body->push_back(documents[i].job);
    }
    if (!how.name_space.empty()) request.query.emplace_back("namespace", how.name_space);
    if (how.dry_run) request.query.emplace_back("dry_run", "true");
    if (how.prune) {
      request.query.emplace_back("prune", "true");
      request.query.emplace_back("selector", how.selector);
    }
    CARILLON_ASSIGN_OR_RETURN(ApiResponse answer, session.Call(request));
    const json& body = answer.body;
    if (!body.is_object() || !body.contains("items") || !body["items"].is_array()) {
      return Failure{.message = "unexpected answer from the server: not a list of results",
                     .code = "bad_answer"};
    }
    for (const json& item : body["items"]) {
      merged["items"].push_back(Located(item, documents, starts[batch]));
    }
    const json counts = body.value("counts", json::object());
    for (const auto& [result, count] : counts.items()) {
      if (!count.is_number_integer()) continue;
      merged["counts"][result] = merged["counts"].value(result, int64_t{0}) + count.get<int64_t>();
    }
    merged["prune_complete"] = body.value("prune_complete", json(nullptr));
  }
  return merged;
}

int64_t Count(const json& applied, const std::string& result) {
  return applied["counts"].value(result, int64_t{0});
}

// Applies all documents. With --prune all documents must be in one request. If there are many,
// they are sent before in small requests without --prune, so that the pruning request has
// little left to do.
Outcome<json> SendAll(Session& session, const Documents& documents, const Applying& how) {
  if (!how.prune || how.dry_run || documents.size() <= kBatchItemsMax) {
    return Send(session, documents, how);
  }
  CARILLON_TRY(Batches(documents, true));  // checks the limits before anything is done
  CARILLON_ASSIGN_OR_RETURN(json applied, Send(session, documents, {.name_space = how.name_space}));
  applied["prune_complete"] = false;
  if (Count(applied, "error") > 0) return applied;
  CARILLON_ASSIGN_OR_RETURN(const json pruned, Send(session, documents, how));
  for (const json& item : pruned["items"]) {
    const std::string result = item.value("result", "");
    if (result == "pruned" || result == "error") applied["items"].push_back(item);
  }
  for (const char* result : {"pruned", "error"}) applied["counts"][result] = Count(pruned, result);
  applied["prune_complete"] = pruned["prune_complete"];
  return applied;
}

// Reports each error and warning with its file and line. Returns the exit code of the first error.
ExitCode PrintErrors(Session& session, const json& applied, const Documents& documents) {
  ExitCode exit = ExitCode::kDone;
  for (const json& item : applied["items"]) {
    if (!item.is_object()) continue;
    SayWarnings(session, item, Cell(item.value("place", json())) + ": ");
    if (!item.value("error", json()).is_object()) continue;
    const json& problem = item["error"];
    Failure failure =
        FailureOf(ApiResponse{.status = problem.value("status", 500), .body = problem});
    const json index = item.value("index", json());
    if (index.is_number_unsigned() && index.get<size_t>() < documents.size()) {
      const JobDocument& document = documents[index.get<size_t>()];
      const json errors = problem.value("errors", json::array());
      std::vector<std::string> pointers;
      failure.details.clear();
      for (const json& error : errors) {
        std::string pointer = error.value("pointer", std::string());  // "/3/timeout"
        pointer.erase(0, pointer.find('/', 1));
        const std::string detail = error.value("detail", std::string());
        // The message already contains the first error and its line.
        if (!pointers.empty() || !RepeatsDetail(failure.message, detail)) {
          failure.details.push_back(
              fmt::format("{}: {}: {}", document.Place(pointer), pointer, detail));
        }
        pointers.push_back(std::move(pointer));
      }
      const std::string pointer = pointers.empty() ? "" : pointers[0];
      failure.message = document.Place(pointer) + ": " + failure.message;
    }
    session.Complain(failure);
    if (exit == ExitCode::kDone) exit = failure.exit;
  }
  if (applied.value("prune_complete", json()) == json(false)) {
    session.Say("Not everything was pruned. Fix the errors, or apply again for the rest.");
  }
  return exit;
}

// "/workflow/nodes/29/over (t12)": in a list of hundreds of nodes nobody looks for the 30th.
std::string PathText(const std::string& path, const json& job) {
  constexpr std::string_view kNodes = "/workflow/nodes/";
  if (!path.starts_with(kNodes)) return path;
  const json nodes = NodesOf(job.is_object() ? job.value("workflow", json()) : json());
  const std::string place = path.substr(kNodes.size(), path.find('/', kNodes.size()));
  size_t at = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), at);
  if (error != std::errc() || at >= nodes.size() || !nodes[at].is_object()) return path;
  const json id = nodes[at].value("id", json());
  return id.is_string() ? path + " (" + id.get<std::string>() + ")" : path;
}

// The job of the answer's item, as it is in the file.
json JobOf(const json& item, const Documents& documents) {
  const json index = item.value("index", json());
  const bool known = index.is_number_unsigned() && index.get<size_t>() < documents.size();
  return known ? documents[index.get<size_t>()].job : json();
}

std::string ChangedPaths(const json& item, const json& job) {
  std::string paths;
  const json changes = item.value("changes", json());
  if (!changes.is_array()) return "many";
  for (const json& change : changes) {
    paths += (paths.empty() ? "" : ", ") + PathText(change.value("path", std::string()), job);
  }
  return paths;
}

void PrintApplied(Session& session, json applied, const Documents& documents) {
  Printer print = session.Print();
  if (print.form() == Form::kTable) {
    for (json& item : applied["items"]) {
      const std::string result = item.value("result", "");
      item["changed"] =
          result == "updated" ? json(ChangedPaths(item, JobOf(item, documents))) : json(nullptr);
      if (!applied.value("dry_run", false)) continue;
      if (result == "created") item["result"] = "would create";
      if (result == "updated") item["result"] = "would update";
      if (result == "pruned") item["result"] = "would prune";
    }
  }
  print.List(applied, AppliedView());
}

std::string Total(const json& applied) {
  return std::to_string(Count(applied, "created")) + " created, " +
         std::to_string(Count(applied, "updated")) + " updated, " +
         std::to_string(Count(applied, "unchanged")) + " unchanged, " +
         std::to_string(Count(applied, "pruned")) + " pruned, " +
         std::to_string(Count(applied, "error")) + " failed";
}

// Lists the jobs that would be deleted, and asks for confirmation.
Outcome<bool> AskToPrune(Session& session, const Documents& documents, Applying how) {
  if (!how.prune || how.dry_run || session.flags().yes) return true;
  how.dry_run = true;
  CARILLON_ASSIGN_OR_RETURN(const json would, Send(session, documents, how));
  const int64_t count = Count(would, "pruned");
  if (count == 0) return true;
  std::string ids;
  for (const json& item : would["items"]) {
    if (item.value("result", "") == "pruned") ids += " " + Cell(item.value("job_id", json()));
  }
  return session.Confirm("Delete " + Counted(count, "job") + ":" + ids + "?");
}

Outcome<ExitCode> CheckPrune(const FileArguments& arguments) {
  if (arguments.prune && arguments.selector.empty()) {
    return UsageFailure("--prune needs --selector, e.g. --selector team=etl");
  }
  if (!arguments.prune && !arguments.selector.empty()) {
    return UsageFailure("--selector can only be used with --prune");
  }
  return ExitCode::kDone;
}

Applying HowOf(const FileArguments& arguments, bool dry_run) {
  return {.dry_run = dry_run,
          .prune = arguments.prune,
          .selector = arguments.selector,
          .name_space = arguments.name_space};
}

Outcome<ExitCode> Apply(Session& session, const FileArguments& arguments) {
  CARILLON_TRY(CheckPrune(arguments));
  CARILLON_ASSIGN_OR_RETURN(const Documents documents, ReadAll(session, arguments));
  const Applying how = HowOf(arguments, arguments.dry_run);
  CARILLON_ASSIGN_OR_RETURN(const bool go, AskToPrune(session, documents, how));
  if (!go) return ExitCode::kFailure;
  if (documents.empty()) return ExitCode::kDone;
  CARILLON_ASSIGN_OR_RETURN(const json applied, SendAll(session, documents, how));
  PrintApplied(session, applied, documents);
  const ExitCode exit = PrintErrors(session, applied, documents);
  session.Say(Total(applied) + (how.dry_run ? " (dry run, nothing was changed)" : ""));
  return exit;
}

void PrintDifference(Printer& print, const json& item, const json& job) {
  const std::string result = item.value("result", "");
  const std::string sign = result == "created" ? "+ " : result == "pruned" ? "- " : "~ ";
  const json id = item.value("job_id", json());
  std::string line = sign + Cell(id.is_null() ? item.value("name", json()) : id);
  if (!item.value("place", json()).is_null()) line += "  " + Cell(item["place"]);
  print.Line(line);
  const json changes = item.value("changes", json());
  if (!changes.is_array()) return print.Line("  too many changes to show");
  for (const json& change : changes) {
    const json path = change.value("path", json());
    print.Line("  " + (path.is_string() ? PathText(Cell(path), job) : Cell(path)));
    if (result == "updated") PrintSide(print, "  -", change.value("from", json()));
    PrintSide(print, "  +", change.value("to", json()));
  }
}

Outcome<ExitCode> Diff(Session& session, const FileArguments& arguments) {
  CARILLON_TRY(CheckPrune(arguments));
  CARILLON_ASSIGN_OR_RETURN(const Documents documents, ReadAll(session, arguments));
  if (documents.empty()) return ExitCode::kDone;
  CARILLON_ASSIGN_OR_RETURN(const json would, Send(session, documents, HowOf(arguments, true)));
  Printer print = session.Print();
  if (print.form() != Form::kTable) {
    PrintApplied(session, would, documents);
  } else {
    for (const json& item : would["items"]) {
      const std::string result = item.value("result", "");
      if (result != "unchanged" && result != "error")
        PrintDifference(print, item, JobOf(item, documents));
    }
  }
  if (PrintErrors(session, would, documents) != ExitCode::kDone) return ExitCode::kUsage;
  const int64_t alike = Count(would, "unchanged");
  return alike == static_cast<int64_t>(would["items"].size()) ? ExitCode::kDone
                                                              : ExitCode::kFailure;
}

// Validates a job without a server. The rules are the server's own: both programs share their code.
json Checked(const JobDocument& document, std::set<std::string>& ids) {
  json checked = {{"place", document.Place()},
                  {"job_id", document.job.value("job_id", json())},
                  {"name", document.job.value("name", json())},
                  {"valid", true},
                  {"errors", json::array()}};
  const auto refuse = [&](const std::string& pointer, const std::string& detail) {
    checked["valid"] = false;
    checked["errors"].push_back({{"place", document.Place(pointer)},
                                 {"pointer", pointer},
                                 {"code", "invalid"},
                                 {"detail", detail}});
  };
  Mistakes further;
  const auto parsed = ParseJob(document.job, &further);
  if (!parsed.ok()) {
    refuse(parsed.error().pointer, parsed.error().message);
    for (const Error& one : further) refuse(one.pointer, one.message);
    return checked;
  }
  for (const ScheduleTwin& twin : FindTwins(parsed->definition.schedules)) {
    refuse("/schedules/" + std::to_string(twin.second), TwinText(twin.first));
  }
  const bool has_id = !parsed->job_id.empty();
  const std::string key =
      has_id ? "id " + parsed->job_id
             : "name " + parsed->definition.name_space + "/" + parsed->definition.name;
  if (!ids.insert(key).second) {
    refuse(has_id ? "/job_id" : "/name",
           "another job in these files has the same " + std::string(has_id ? "job_id" : "name"));
  }
  return checked;
}

Outcome<ExitCode> Validate(Session& session, const FileArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const Documents documents, ReadAll(session, arguments));
  static const View view{
      {{"VALID", "valid"}, {"JOB", "job_id"}, {"NAME", "name"}, {"PLACE", "place"}}, "place"};
  json result = {{"items", json::array()}, {"valid", true}};
  std::set<std::string> ids;
  for (const JobDocument& document : documents) {
    result["items"].push_back(Checked(document, ids));
    const json& checked = result["items"].back();
    if (checked["valid"] == false) result["valid"] = false;
    for (const json& error : checked["errors"]) {
      session.Complain({.message = error.value("place", "") + ": " + error.value("detail", ""),
                        .code = error.value("code", ""),
                        .details = {error.value("pointer", "")}});
    }
  }
  if (session.Print().form() != Form::kTable) session.Print().List(result, view);
  const bool valid = result["valid"] == true;
  if (valid)
    session.Say(Counted(static_cast<int64_t>(documents.size()), "job") + " checked, no errors.");
  return valid ? ExitCode::kDone : ExitCode::kUsage;
}

void AddFiles(CLI::App* verb, FileArguments& arguments) {
  verb->add_option("-f,--file", arguments.files,
                   "YAML or JSON file or directory, - for standard input; repeatable")
      ->required()
      ->allow_extra_args(false);
}

void AddPrune(CLI::App* verb, FileArguments& arguments) {
  verb->add_flag(
      "--prune", arguments.prune,
      "Also delete jobs that are not in the files, limited by --selector and --namespace");
  verb->add_option("--selector", arguments.selector,
                   "Jobs that --prune may delete, by label, e.g. 'team = etl, !old'")
      ->check(NotEmpty);
  verb->add_option("--namespace", arguments.name_space,
                   "Namespace of jobs that name none; limits --prune to this namespace")
      ->check(NotEmpty);
}

}  // namespace

void AddFileCommands(CLI::App& app, Session& session) {
  const auto a = std::make_shared<FileArguments>();  // shared by the subcommands' callbacks
  CLI::App* apply = app.add_subcommand("apply", "Create or update jobs from files");
  AddFiles(apply, *a);
  AddPrune(apply, *a);
  apply->add_flag("--dry-run", a->dry_run, "Show what would be done, without changing anything");
  session.On(apply, [&session, a] { return Apply(session, *a); });

  CLI::App* diff = app.add_subcommand(
      "diff", "Show what apply would change; exits with 1 if anything, 2 on errors");
  AddFiles(diff, *a);
  AddPrune(diff, *a);
  session.On(diff, [&session, a] { return Diff(session, *a); });

  CLI::App* validate = app.add_subcommand("validate", "Check job files without a server");
  AddFiles(validate, *a);
  session.On(validate, [&session, a] { return Validate(session, *a); });
}

}  // namespace carillon::cli
