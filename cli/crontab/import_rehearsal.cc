#include "cli/crontab/import_rehearsal.h"

#include <set>
#include <string>

#include "cli/jobs/commands.h"
#include "common/wire/json/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

// Converts an item of an answer to what is shown. An import never replaces a job, so that one that
// exists stays as it is.
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

// The outcome of each job, from the items of the answers. Tells the reason of each error, and what
// the server warns of.
Rehearsal OutcomesOf(Session& session, const std::vector<json>& jobs,
                     const std::vector<json>& items) {
  Rehearsal rehearsal;
  for (size_t i = 0; i < items.size(); ++i) {
    rehearsal.planned["items"].push_back(Planned(items[i], jobs[i]));
    const json& shown = rehearsal.planned["items"].back();
    SayWarnings(session, items[i], jobs[i].value("job_id", std::string()) + ": ");
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

// Sends the jobs to /api/apply, in requests of limited size. Returns the items of the answers, one
// for each job. After a failure the jobs of earlier requests are there.
Outcome<std::vector<json>> SendJobs(Session& session, const std::vector<json>& jobs,
                                    const std::string& parameter) {
  // The server accepts 500 jobs and 1 MiB in a request, and stores 100 at a time.
  constexpr size_t kItemsMax = 300;
  constexpr size_t kBytesMax = 900'000;
  std::vector<json> results;
  while (results.size() < jobs.size()) {
    json batch = json::array();
    size_t bytes = 0;
    for (size_t i = results.size(); i < jobs.size() && batch.size() < kItemsMax; ++i) {
      bytes += JsonToText(jobs[i]).size() + 1;
      if (bytes > kBytesMax && !batch.empty()) break;
      batch.push_back(jobs[i]);
    }
    const size_t count = batch.size();
    ApiRequest request{.method = "POST",
                       .path = "/api/apply",
                       .query = {{parameter, "true"}},
                       .body = std::move(batch)};
    request.idempotent = parameter != "dry_run";
    auto answer = session.Call(request);
    if (!answer.ok()) {
      const std::string progress =
          std::to_string(results.size()) + " of " + std::to_string(jobs.size());
      if (request.idempotent) {
        session.Say("Stopped after " + progress +
                    " jobs. Import again: that creates those that are missing.");
      }
      return answer.error();
    }
    json& body = answer->body;
    const bool listed = body.is_object() && body.contains("items") && body["items"].is_array() &&
                        body["items"].size() == count;
    if (!listed) {
      return Failure{.message = "unexpected answer from the server: not a list of results",
                     .code = "bad_answer"};
    }
    for (json& item : body["items"]) results.push_back(std::move(item));
  }
  return results;
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

Outcome<Rehearsal> Rehearse(Session& session, const std::vector<json>& jobs) {
  CARILLON_ASSIGN_OR_RETURN(const auto items,
                            SendJobs(session, WithoutDependencies(jobs), "dry_run"));
  return OutcomesOf(session, jobs, items);
}

Outcome<Rehearsal> CreateMissing(Session& session, const std::vector<json>& jobs) {
  CARILLON_ASSIGN_OR_RETURN(const auto items, SendJobs(session, jobs, "only_new"));
  return OutcomesOf(session, jobs, items);
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
