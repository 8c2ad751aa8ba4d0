// What belongs to whom, for callers whose permission reaches only to what is theirs.
//
// Errors   403 forbidden (with `permission`) and 403 not_owner; the store's own.
#pragma once

#include "scheduler/api/route.h"

namespace carillon::scheduler {

Problem Forbidden(Permission permission);
Problem NotOwner(Permission permission);

// Whether what the path names is the caller's. What is not there is left to the handler.
Outcome<bool> CheckOwned(const Route& route, const Call& call);

// Whether the caller may give something to `user_id`: to anybody, or only to himself.
Outcome<bool> CheckNewOwner(const Call& call, const std::string& user_id);

}  // namespace carillon::scheduler
