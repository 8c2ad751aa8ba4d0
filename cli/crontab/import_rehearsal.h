// A dry run of an import: asks the server which jobs of a list it would create.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

const View& PlannedView();

// Returns the message about a job that was not created. If another job has the same id, the source
// is not at fault. The message then proposes --prefix, which gives the entry another id.
std::string NotImported(const nlohmann::json& job, const Failure& failure);

// Sends the jobs to /api/apply, in requests of limited size, with `query`. Returns the items of the
// answers, one for each job.
Outcome<std::vector<nlohmann::json>> SendJobs(Session& session,
                                              const std::vector<nlohmann::json>& jobs,
                                              const Parameters& query);

// The outcome that each job would have. The server stores nothing.
struct Rehearsal {
  nlohmann::json planned = {{"items", nlohmann::json::array()}};
  ExitCode exit = ExitCode::kDone;  // not kDone if a job would not be created
};
Outcome<Rehearsal> Rehearse(Session& session, const std::vector<nlohmann::json>& jobs);

// Shows the plan of --dry-run.
ExitCode ShowPlanned(Session& session, Rehearsal rehearsal);
Outcome<ExitCode> ShowRehearsal(Session& session, const std::vector<nlohmann::json>& jobs);

}  // namespace carillon::cli
