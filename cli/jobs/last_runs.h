// The last run of each job in a table: its result and how long it took.
#pragma once

#include <string_view>

#include "cli/terminal/session.h"

namespace carillon::cli {

// The columns of JobView and those of the last run, for `job list`.
const View& JobListView();

// Adds the members last_result and last_duration to `jobs`, a list of jobs. If the runs cannot be
// read, says why on standard error and adds nothing. Lower case means that the run has not
// ended: "running".
void AddLastRuns(Session& session, nlohmann::json& jobs);

// Formats a duration with at most two units: "0.35s", "12.3s", "2m 05s", "3h 07m", "4d 02h".
std::string DurationText(Duration time);

}  // namespace carillon::cli
