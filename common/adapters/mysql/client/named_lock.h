// Locks on a whole database, which a connection holds until it releases them or ends.
//
// Named locks belong to the server and not to a database, so each name contains a hash of the
// database's name.
//
// Errors   Those of Session. Every function needs a session with a selected database.
#pragma once

#include "common/adapters/mysql/client/session.h"

namespace carillon::mysql {

enum class StoreLock {
  kMigrate,   // held while the schema is changed, or a store is restored from a backup
  kMaintain,  // held while partitions are added or dropped, and while a backup reads the tables. If
              // a partition were dropped during a backup, the backup would lack its rows
};

// Waits up to `wait`, rounded up to whole seconds. Returns false if another connection holds
// the lock.
Result<bool> TakeLock(Session& session, StoreLock lock, Duration wait);
// True if this connection holds `lock`.
Result<bool> HoldsLock(Session& session, StoreLock lock);
Status ReleaseLock(Session& session, StoreLock lock);

}  // namespace carillon::mysql
