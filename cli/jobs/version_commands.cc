#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct VersionArguments {
  std::string id;
  std::string reason;
  std::optional<int64_t> limit;
  int64_t from = 0;  // 0 = the version before `to`
  int64_t to = 0;    // 0 = the newest version
  int64_t version = 0;
};

const View& VersionView() {
  static const View view{
      {{"VERSION", "version"}, {"WHEN", "create_time"}, {"WHO", "actor"}, {"CHANGED", "changed"}},
      "version"};
  return view;
}

// Returns the names of the changed fields: "priority, labels". Null if the previous
// version is unknown.
json ChangedFields(const json& version) {
  const auto changes = version.find("changes");
  if (changes == version.end() || !changes->is_array()) return nullptr;
  std::string fields;
  for (const json& change : *changes) {
    fields += (fields.empty() ? "" : ", ") + change.value("field", std::string());
  }
  return fields.empty() ? json("nothing") : json(fields);
}

Outcome<ExitCode> List(Session& session, const VersionArguments& arguments) {
  return session.List(
      {.path = JobPath(arguments.id, "versions")},
      {.view = VersionView(), .limit = arguments.limit, .for_table = [](json& version) {
         version["changed"] = ChangedFields(version);
       }});
}

Outcome<ExitCode> Diff(Session& session, const VersionArguments& arguments) {
  int64_t to = arguments.to;
  if (to == 0) {
    CARILLON_ASSIGN_OR_RETURN(
        const ApiResponse newest,
        session.Call({.path = JobPath(arguments.id, "versions"), .query = {{"page_size", "1"}}}));
    const json items = newest.body.is_object() ? newest.body.value("items", json()) : json();
    if (!items.is_array() || items.empty() || !items[0].is_object()) {
      return Failure{.message = "unexpected answer from the server: no version",
                     .code = "bad_answer"};
    }
    to = items[0].value("version", int64_t{0});
  }
  ApiRequest request{.path = JobPath(arguments.id, "versions/" + std::to_string(to))};
  if (arguments.from != 0) request.query.emplace_back("against", std::to_string(arguments.from));
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse version, session.Call(request));
  const json changes = version.body.value("changes", json());
  if (!changes.is_array()) {
    return Failure{.exit = ExitCode::kUsage,
                   .message = "nothing to compare version " + std::to_string(to) +
                              " with: it is the first version, or the other one is no longer "
                              "stored or is unreadable",
                   .code = "nothing_to_compare"};
  }
  Printer print = session.Print();
  if (print.form() != Form::kTable) {
    print.Object(version.body, VersionView());
  } else {
    for (const json& change : changes) {
      print.Line(change.value("field", std::string()));
      PrintSide(print, "-", change.value("before", json()));
      PrintSide(print, "+", change.value("after", json()));
    }
  }
  return changes.empty() ? ExitCode::kDone : ExitCode::kFailure;
}

Outcome<ExitCode> Revert(Session& session, const VersionArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const bool go,
                            session.Confirm("Revert " + arguments.id + " to version " +
                                            std::to_string(arguments.version) + "?"));
  if (!go) return ExitCode::kFailure;
  CARILLON_ASSIGN_OR_RETURN(const std::string tag, CurrentTag(session, JobPath(arguments.id)));
  json body = {{"version", arguments.version}};
  if (!arguments.reason.empty()) body["reason"] = arguments.reason;
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse job,
                            session.Call({.method = "POST",
                                          .path = JobPath(arguments.id, "revert"),
                                          .body = std::move(body),
                                          .if_match = tag}));
  PrintJob(session, job.body);
  return ExitCode::kDone;
}

}  // namespace

void PrintSide(Printer& print, const std::string& sign, const nlohmann::json& value) {
  std::string text = WriteYaml(value);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    print.Line("  " + sign + " " + Cell(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

void AddVersionCommands(CLI::App& job, Session& session) {
  const auto a = std::make_shared<VersionArguments>();  // shared with the callbacks
  CLI::App* versions = job.add_subcommand("versions", "List the versions of a job, newest first");
  versions->add_option("job", a->id, "Job ID")->required();
  AddLimit(versions, a->limit, "versions");
  session.On(versions, [&session, a] { return List(session, *a); });

  CLI::App* diff =
      job.add_subcommand("diff", "Compare two versions of a job; exits with 1 if they differ");
  diff->add_option("job", a->id, "Job ID")->required();
  diff->add_option("--from", a->from, "Older version (default: the one before --to)")
      ->check(CLI::PositiveNumber);
  diff->add_option("--to", a->to, "Newer version (default: the latest)")
      ->check(CLI::PositiveNumber);
  session.On(diff, [&session, a] { return Diff(session, *a); });

  CLI::App* revert = job.add_subcommand("revert", "Revert a job to a previous version");
  revert->add_option("job", a->id, "Job ID")->required();
  revert->add_option("version", a->version, "Version to revert to")
      ->required()
      ->check(CLI::PositiveNumber);
  revert->add_option("--reason", a->reason, "Reason, kept in the audit log");
  session.On(revert, [&session, a] { return Revert(session, *a); });
}

}  // namespace carillon::cli
