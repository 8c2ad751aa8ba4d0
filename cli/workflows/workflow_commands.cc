#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/jobs/commands.h"
#include "cli/jobs/job_files.h"
#include "cli/runs/node_text.h"
#include "cli/workflows/commands.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

struct WorkflowArguments {
  std::string id;
  std::vector<std::string> files;
  std::vector<std::string> namespaces;
  std::string search;
  std::optional<int64_t> limit;
};

Outcome<ExitCode> List(Session& session, const WorkflowArguments& arguments) {
  ApiRequest request{.path = "/api/jobs", .query = {{"type", "workflow"}}};
  if (!arguments.search.empty()) request.query.emplace_back("q", arguments.search);
  for (const std::string& one : arguments.namespaces) request.query.emplace_back("namespace", one);
  static const View view{{{"JOB", "job_id"},
                          {"NAME", "name"},
                          {"STATE", "state"},
                          {"NODES", "nodes"},
                          {"SCHEDULE", "schedule"},
                          {"NEXT", "next_fire_time"}},
                         "job_id"};
  return session.List(request, {.view = view, .limit = arguments.limit, .for_table = [](json& job) {
                                  job["schedule"] = ScheduleSummary(job);
                                  job["nodes"] = NodesOf(job.value("workflow", json())).size();
                                }});
}

Outcome<ExitCode> ShowGraph(Session& session, const WorkflowArguments& arguments) {
  static const View view{
      {{"NODE", "id"},
       {"KIND", "kind"},
       {"JOB", "job_id"},
       {"AFTER", "after_text"},
       {"RULE", "trigger_rule"},
       {"ALLOW FAILURE", "allow_failure"},
       {.title = "FINALLY", .member = "is_finally", .sparse = true},
       {.title = "FOR EACH OF", .member = "over", .sparse = true}},
      "id",
      {{"TYPE", "job_type"}, {"JOB NAME", "job_name"}, {"JOB STATE", "job_state"}}};
  CARILLON_ASSIGN_OR_RETURN(const ApiResponse graph,
                            session.Call({.path = JobPath(arguments.id, "graph")}));
  PrintNodes(session, graph.body, view);
  return ExitCode::kDone;
}

// The mistakes that the server finds in one document; empty if it is valid.
Outcome<json> ProblemsOf(Session& session, const json& job) {
  json body = {{"workflow", job.value("workflow", json())}};
  for (const char* field : {"job_id", "parameters"}) {
    if (job.contains(field)) body[field] = job[field];
  }
  CARILLON_ASSIGN_OR_RETURN(
      const ApiResponse answer,
      session.Call({.method = "POST", .path = "/api/workflows/validate", .body = body}));
  const json problems = answer.body.is_object() ? answer.body.value("problems", json()) : json();
  if (problems.is_array()) return problems;
  return Failure{.message = "unexpected answer from the server: no list of problems",
                 .code = "bad_answer"};
}

// The job that a problem of the document names as unknown; empty for any other problem.
std::string UnknownJobOf(const json& job, const json& problem) {
  const std::string pointer = problem.value("pointer", "");
  if (problem.value("code", "") != "unknown_job" || !pointer.starts_with('/')) return {};
  const json::json_pointer at(pointer);
  const json named = job.contains(at) ? job[at] : json();
  return named.is_string() ? named.get<std::string>() : "";
}

// Leaves out the jobs that the files themselves define.
json WithoutDefined(const json& problems, const json& job, const std::set<std::string>& defined) {
  json left = json::array();
  for (const json& problem : problems) {
    if (problem.is_object() && !defined.contains(UnknownJobOf(job, problem)))
      left.push_back(problem);
  }
  return left;
}

// A job that several nodes name and nothing defines is reported once.
void ReportProblems(Session& session, const JobDocument& document, const json& problems) {
  std::map<std::string, int64_t> unknown;
  for (const json& problem : problems) ++unknown[UnknownJobOf(document.job, problem)];
  std::set<std::string> reported;
  for (const json& problem : problems) {
    const std::string job = UnknownJobOf(document.job, problem);
    if (!job.empty() && !reported.insert(job).second) continue;
    const std::string pointer = problem.value("pointer", "");
    std::string message = document.Place(pointer) + ": " + problem.value("message", "");
    if (!job.empty() && unknown[job] > 1) {
      if (message.ends_with('.')) message.pop_back();
      message += " (" + Counted(unknown[job], "node") + ").";
    }
    session.Complain(
        {.message = std::move(message), .code = problem.value("code", ""), .details = {pointer}});
  }
}

Outcome<ExitCode> Validate(Session& session, const WorkflowArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const auto documents, ReadJobFiles(session, arguments.files));
  static const View view{{{"VALID", "valid"}, {"JOB", "job_id"}, {"PLACE", "place"}}, "place"};
  json result = {{"items", json::array()}, {"valid", true}};
  std::set<std::string> defined;
  for (const JobDocument& document : documents) {
    const json id = document.job.value("job_id", json());
    if (id.is_string() && id != "") defined.insert(id.get<std::string>());
  }
  for (const JobDocument& document : documents) {
    if (document.job.value("type", json()) != "workflow") continue;
    CARILLON_ASSIGN_OR_RETURN(const json found, ProblemsOf(session, document.job));
    const json problems = WithoutDefined(found, document.job, defined);
    if (problems.empty() && found.size() >= kWorkflowProblemsMax) {
      session.Say(document.Place() + ": checked only in part, because too many jobs are new.");
    }
    ReportProblems(session, document, problems);
    json item = {{"place", document.Place()},
                 {"job_id", document.job.value("job_id", json())},
                 {"valid", problems.empty()},
                 {"problems", json::array()}};
    for (json problem : problems) {
      problem["place"] = document.Place(problem.value("pointer", ""));
      item["problems"].push_back(std::move(problem));
      result["valid"] = false;
    }
    result["items"].push_back(std::move(item));
  }
  if (session.Print().form() != Form::kTable) session.Print().List(result, view);
  const bool valid = result["valid"] == true;
  const auto count = static_cast<int64_t>(result["items"].size());
  if (valid) session.Say(Counted(count, "workflow") + " checked, no errors.");
  return valid ? ExitCode::kDone : ExitCode::kUsage;
}

}  // namespace

void AddWorkflowCommands(CLI::App& app, Session& session) {
  CLI::App* workflow = app.add_subcommand("workflow", "Show and check workflows");
  workflow->require_subcommand(1);
  const auto a = std::make_shared<WorkflowArguments>();  // shared by the subcommands' callbacks
  CLI::App* list = workflow->add_subcommand("list", "List the jobs that are workflows");
  list->add_option("--q", a->search, "Only those with this text in the name or ID");
  list->add_option("--namespace", a->namespaces, "Only those in this namespace; repeatable")
      ->allow_extra_args(false)
      ->check(NotEmpty);
  AddLimit(list, a->limit, "workflows");
  session.On(list, [&session, a] { return List(session, *a); });
  CLI::App* graph =
      workflow->add_subcommand("graph", "Show what each node of a workflow waits for");
  graph->add_option("job", a->id, "Job ID")->required();
  session.On(graph, [&session, a] { return ShowGraph(session, *a); });
  CLI::App* validate = workflow->add_subcommand(
      "validate",
      "Check the workflows of job files; nodes may run jobs of the files or of the server");
  validate
      ->add_option("-f,--file", a->files,
                   "YAML or JSON file or directory, - for standard input; repeatable")
      ->required()
      ->allow_extra_args(false);
  session.On(validate, [&session, a] { return Validate(session, *a); });
}

}  // namespace carillon::cli
