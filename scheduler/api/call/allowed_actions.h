// The actions that a caller's rights allow on one entry of a list, whatever state it is in. Read
// from the table of routes and judged by the same code, so that it agrees with what the routes
// will answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "scheduler/api/call/ownership.h"

namespace carillon::scheduler {

// Sorted: ["cancel", "delete", "edit", …]; of a run or a dead letter `job` is its job's place.
nlohmann::json AllowedActions(const Call& call, Owned kind, const JobAccessScope& job);
// The same of what belongs to the job of this id, which may be deleted.
Outcome<nlohmann::json> AllowedActions(const Call& call, Owned kind, const JobId& id);

// The same for objects that belong to no job, whose actions the audit calls "executor.…", "user.…",
// "secret.…" or "token.…". `owner` is the user_id of the owner, empty = none.
nlohmann::json AllowedActions(const Call& call, std::string_view thing,
                              const std::string& owner = {});

}  // namespace carillon::scheduler
