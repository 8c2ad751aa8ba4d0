// Locks on a whole database, which a connection has until it releases them or ends.
//
// Named locks are the server's and not the database's: each name carries a hash of the database.
//
// Errors   As Session; all of them need a selected database.
#pragma once

#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

enum class StoreLock {
  kMigrate,   // of whoever changes the schema, or fills a store from a backup
  kMaintain,  // of whoever adds and drops partitions, or reads all of them for a backup: a
              // transaction's snapshot loses the rows of a partition that another one drops
};

// Waits for up to `wait`, in whole seconds. False: another connection has it.
Result<bool> TakeLock(Session& session, StoreLock lock, Duration wait);
// True if this connection holds it.
Result<bool> HoldsLock(Session& session, StoreLock lock);
Status ReleaseLock(Session& session, StoreLock lock);

}  // namespace carillon::mysql
