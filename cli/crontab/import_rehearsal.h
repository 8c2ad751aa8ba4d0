// An import, or a dry run of one: asks the server to create those jobs of a list that do not exist.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

const View& PlannedView();

// Returns the message about a job that was not created. If another job has the same id, the source
// is not at fault. The message then proposes --prefix, which gives the entry another id.
std::string NotImported(const nlohmann::json& job, const Failure& failure);

// The outcome of each job.
struct Rehearsal {
  nlohmann::json planned = {{"items", nlohmann::json::array()}};
  ExitCode exit = ExitCode::kDone;  // not kDone if a job would not be created
};
// The server stores nothing.
Outcome<Rehearsal> Rehearse(Session& session, const std::vector<nlohmann::json>& jobs);
// Creates the jobs. One that exists stays as it is.
Outcome<Rehearsal> CreateMissing(Session& session, const std::vector<nlohmann::json>& jobs);

// Shows the plan of --dry-run.
ExitCode ShowPlanned(Session& session, Rehearsal rehearsal);
Outcome<ExitCode> ShowRehearsal(Session& session, const std::vector<nlohmann::json>& jobs);

}  // namespace carillon::cli
