#include <memory>
#include <nlohmann/json.hpp>

#include "cli/jobs/commands.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

const View& DependenciesView() {
  static const View view{{{"DIRECTION", "direction"},
                          {"KIND", "kind"},
                          {"JOB", "job_id"},
                          {"NAME", "job_name"},
                          {"ON", "on"}},
                         "job_id"};
  return view;
}

void AddRows(const json& dependencies, const std::string& direction, json& rows) {
  const json jobs = dependencies.value(direction, json());
  if (!jobs.is_array()) return;
  for (json job : jobs) {
    if (!job.is_object()) continue;
    if (job.value("deleted", json()) == true) {
      job["job_name"] = Cell(job.value("job_name", json())) + " (deleted)";
    }
    job["direction"] = direction;
    rows.push_back(std::move(job));
  }
}

void PrintRows(Session& session, const json& dependencies) {
  json rows = json::array();
  int64_t hidden = 0;
  if (dependencies.is_object()) {
    AddRows(dependencies, "upstream", rows);
    AddRows(dependencies, "downstream", rows);
    const json count = dependencies.value("hidden", json());
    if (count.is_number_integer()) hidden = count.get<int64_t>();
  }
  session.Print().List({{"items", std::move(rows)}}, DependenciesView());
  if (hidden > 0) session.Say("Not shown: " + Counted(hidden, "job") + " that you may not read.");
}

Outcome<ExitCode> ShowDependencies(Session& session, const std::string& id) {
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse dependencies,
                            session.Call({.path = JobPath(id, "dependencies")}));
  Printer print = session.Print();
  const bool rows = print.form() == Form::kTable || print.form() == Form::kName;
  if (rows || session.flags().quiet) {
    PrintRows(session, dependencies.body);
  } else {
    print.Object(dependencies.body, DependenciesView());
  }
  return ExitCode::kDone;
}

}  // namespace

void AddDependenciesCommand(CLI::App& job, Session& session) {
  const auto id = std::make_shared<std::string>();  // shared with the callback
  CLI::App* deps = job.add_subcommand(
      "deps", "Show the jobs that a job starts after, waits for or runs as nodes, and vice versa");
  deps->add_option("job", *id, "Job ID")->required();
  session.On(deps, [&session, id] { return ShowDependencies(session, *id); });
}

}  // namespace carillon::cli
