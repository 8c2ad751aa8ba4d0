// Handlers of /api/secrets. Values are written but never returned.
//
// Errors   409 secrets_unavailable: this member has no key. Otherwise the errors of the store.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListSecrets(const Call& call);
Reply CreateSecret(const Call& call);
Reply GetSecret(const Call& call);
Reply UpdateSecret(const Call& call);
Reply DeleteSecret(const Call& call);
// Encrypts secrets again, with the first key, if they were encrypted with another key. The number
// of secrets per call is bounded.
Reply RewrapSecrets(const Call& call);

}  // namespace carillon::scheduler
