// Checks the secrets that a job names when the job is written.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "common/domain/job/job.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Returns true if the job may be written with the secrets that it uses. Otherwise 422 with the
// pointer of the wrong variable. unknown_secret: the secret does not exist. secret_forbidden: the
// job's owner may not use the secret. The secrets are checked again at each claim. If `named` is
// set, the caller must also be allowed to use every secret that is not in `named`.
Outcome<bool> CheckSecrets(const Call& call, const JobDefinition& definition,
                           const std::optional<std::set<std::string>>& named = {});

}  // namespace carillon::scheduler
