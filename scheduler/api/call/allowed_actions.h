// Lists the actions that a caller's permissions allow on an object. The state of the object does
// not matter. The list is made with the table of routes and with its permission checks, so it
// agrees with the answers of the routes.
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

// The same for an object that belongs to no job. `thing` is the first part of the names of its
// actions in the audit, such as "executor" in "executor.drain". `owner` is the user_id of the
// object's owner, or empty if the object has no owner.
nlohmann::json AllowedActions(const Call& call, std::string_view thing,
                              const std::string& owner = {});

}  // namespace carillon::scheduler
