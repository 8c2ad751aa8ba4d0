// The secrets that a job names, checked when it is written.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "common/domain/job/job.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Whether a job may be written that uses these secrets: 422 with the variable's pointer for one
// that does not exist (unknown_secret) or that its owner may not use (secret_forbidden). Each claim
// checks again. `named`: the caller may name other secrets than these only if they may use them.
Outcome<bool> CheckSecrets(const Call& call, const JobDefinition& definition,
                           const std::optional<std::set<std::string>>& named = {});

}  // namespace carillon::scheduler
