// Secrets: written, shown without their values, never read back.
//
// Errors   409 secrets_unavailable: this member has no key. The store's own.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListSecrets(const Call& call);
Reply CreateSecret(const Call& call);
Reply GetSecret(const Call& call);
Reply UpdateSecret(const Call& call);
Reply DeleteSecret(const Call& call);
// Seals with the first key what another one sealed, a bounded number a call.
Reply RewrapSecrets(const Call& call);

}  // namespace carillon::scheduler
