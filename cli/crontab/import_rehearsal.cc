#include "cli/crontab/import_rehearsal.h"

#include <set>
#include <string>

#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

// Converts an item of a dry run to the result that --apply would have. An existing job stays as it
// is, because an import never replaces a job.
json Planned(const json& item, const json& job) {
  const std::string result = item.value("result", "");
  const bool there = result != "created" && result != "error";
  return {{"result", there ? "exists" : result},
          {"job_id", job.value("job_id", json())},
          {"name", job.value("name", json())},
          {"error", item.value("error", json())}};
}

// The jobs without their dependencies on each other. In a dry run the server has stored none of
// them, so that it would miss those of an earlier request.
std::vector<json> WithoutDependencies(std::vector<json> jobs) {
  std::set<std::string> ids;
  for (const json& job : jobs) ids.insert(job.value("job_id", std::string()));
  for (json& job : jobs) {
    if (!job.contains("schedules")) continue;
    json kept = json::array();
    for (const json& schedule : job["schedules"]) {
      if (!ids.contains(schedule.value("job", std::string()))) kept.push_back(schedule);
    }
    job["schedules"] = std::move(kept);
  }
  return jobs;
}

}  // namespace

std::string NotImported(const json& job, const Failure& failure) {
  const std::string id = job.value("job_id", std::string());
  const bool taken = failure.code == "exists";
  return id + " was not imported: " +
         (taken ? "another job has or had this ID. Use --prefix to import under different IDs."
                : failure.message);
}

const View& PlannedView() {
  static const View view{{{"RESULT", "result"}, {"JOB", "job_id"}, {"NAME", "name"}}, "job_id"};
  return view;
}

Outcome<std::vector<json>> SendJobs(Session& session, const std::vector<json>& jobs,
                                    const Parameters& query) {
  // The server accepts 500 jobs and 1 MiB in a request.
  constexpr size_t kItemsMax = 250;
  constexpr size_t kBytesMax = 900'000;
  std::vector<json> results;
  for (size_t begin = 0; begin < jobs.size();) {
    json batch = json::array();
    size_t bytes = 0;
    for (size_t i = begin; i < jobs.size() && batch.size() < kItemsMax; ++i) {
      bytes += JsonToText(jobs[i]).size() + 1;
      if (bytes > kBytesMax && !batch.empty()) break;
      batch.push_back(jobs[i]);
    }
    ApiRequest request{.method = "POST", .path = "/api/apply", .query = query, .body = batch};
    request.idempotent = query.empty();  // a dry run writes nothing
    CARILLON_ASSIGN_OR_RETURN(const ApiResponse answer, session.Call(request));
    const json items = answer.body.is_object() ? answer.body.value("items", json()) : json();
    if (!items.is_array() || items.size() != batch.size()) {
      return Failure{.message = "unexpected answer from the server: not a list of results",
                     .code = "bad_answer"};
    }
    results.insert(results.end(), items.begin(), items.end());
    begin += batch.size();
  }
  return results;
}

Outcome<Rehearsal> Rehearse(Session& session, const std::vector<json>& jobs) {
  CARILLON_ASSIGN_OR_RETURN(const auto items,
                            SendJobs(session, WithoutDependencies(jobs), {{"dry_run", "true"}}));
  Rehearsal rehearsal;
  for (size_t i = 0; i < items.size(); ++i) {
    rehearsal.planned["items"].push_back(Planned(items[i], jobs[i]));
    const json& shown = rehearsal.planned["items"].back();
    if (shown["result"] == "created") continue;
    if (rehearsal.exit == ExitCode::kDone) rehearsal.exit = ExitCode::kConflict;
    if (shown["result"] != "error") continue;
    const Failure failure = FailureOf(
        ApiResponse{.status = shown["error"].value("status", 500), .body = shown["error"]});
    session.Say(NotImported(jobs[i], failure));
    if (rehearsal.exit == ExitCode::kConflict) rehearsal.exit = failure.exit;
  }
  return rehearsal;
}

ExitCode ShowPlanned(Session& session, Rehearsal rehearsal) {
  Printer print = session.Print();
  if (print.form() == Form::kTable) {
    for (json& item : rehearsal.planned["items"]) {
      if (item["result"] == "created") item["result"] = "would create";
    }
  }
  print.List(rehearsal.planned, PlannedView());
  return rehearsal.exit;
}

Outcome<ExitCode> ShowRehearsal(Session& session, const std::vector<json>& jobs) {
  CARILLON_ASSIGN_OR_RETURN(Rehearsal rehearsal, Rehearse(session, jobs));
  return ShowPlanned(session, std::move(rehearsal));
}

}  // namespace carillon::cli
