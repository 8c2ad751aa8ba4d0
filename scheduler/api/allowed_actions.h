// What a caller may do to a job, a run or a dead letter: rights only, whatever state it is in. Read
// from the table of routes and judged by ownership.h, so that it says what the routes will answer.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scheduler/api/ownership.h"

namespace carillon::scheduler {

// Sorted: ["cancel", "delete", "edit", …]; of a run or a dead letter `job` is its job's place.
nlohmann::json AllowedActions(const Caller& caller, Owned kind, const JobPlace& job);
// The same of what belongs to the job of this id, which may be deleted.
Outcome<nlohmann::json> AllowedActions(const Call& call, Owned kind, const JobId& id);

}  // namespace carillon::scheduler
