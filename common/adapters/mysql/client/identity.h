// Reads the identity of the store at the other end of a connection.
//
// Errors   kBrokenStore: there is no store, or its schema is older;
//          kCorrupt: the store has no identity.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/domain/store_trust.h"

namespace carillon::mysql {

enum class IdentityLock { kNone, kForUpdate };
Result<StoreIdentity> ReadIdentity(Session& session, IdentityLock lock = IdentityLock::kNone);

}  // namespace carillon::mysql
