// Lists the actions that a caller's permissions allow on an object, whatever its state. The list is
// derived from the table of routes and decided by the same code, so that it agrees with the answers
// of the routes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "scheduler/api/call/ownership.h"

namespace carillon::scheduler {

// Sorted: ["cancel", "delete", "edit", …]. For a run or a dead letter, `job` describes its job.
nlohmann::json AllowedActions(const Call& call, Owned kind, const JobAccessScope& job);
// The same for an object that belongs to the job with this id. The job may be deleted.
Outcome<nlohmann::json> AllowedActions(const Call& call, Owned kind, const JobId& id);

// The same for objects that belong to no job, whose actions the audit calls "executor.…", "user.…",
// "secret.…" or "token.…". `owner` is the user_id of the owner, empty = none.
nlohmann::json AllowedActions(const Call& call, std::string_view thing,
                              const std::string& owner = {});

}  // namespace carillon::scheduler
