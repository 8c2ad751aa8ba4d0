// Secrets: written, shown without their values, never read back.
//
// Errors   409 secrets_unavailable: this member has no key. The store's own.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "common/domain/job.h"
#include "scheduler/api/call.h"

namespace carillon::scheduler {

Reply ListSecrets(const Call& call);
Reply CreateSecret(const Call& call);
Reply GetSecret(const Call& call);
Reply UpdateSecret(const Call& call);
Reply DeleteSecret(const Call& call);
// Seals with the first key what another one sealed, a bounded number a call.
Reply RewrapSecrets(const Call& call);

// Whether a job may be written that uses these secrets: 422 with the variable's pointer for one
// that does not exist (unknown_secret) or that its owner may not use (secret_forbidden). Each claim
// looks again. `named`: the caller may name others than these only when he may use them himself.
Outcome<bool> CheckSecrets(const Call& call, const JobDefinition& definition,
                           const std::optional<std::set<std::string>>& named = {});

}  // namespace carillon::scheduler
