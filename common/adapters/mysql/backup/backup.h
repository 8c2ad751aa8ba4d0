// A store as a file, and back.
//
// A dump reads one moment of all tables, but such a read silently lacks what another connection's
// DROP PARTITION has removed meanwhile. So a backup holds the lock of maintenance, which every
// member's takes before it touches partitions; they try again minutes later.
//
// Threads  Each call blocks for as long as it takes; the lock is looked at every second.
// Errors   kNotFound: no client programs, or no store. kConflict: the lock is taken, the target is
//          not empty or in use, or the backup is of a newer schema. kUnavailable: the server, a
//          program or the file failed, or the lock was lost. kCorrupt: the backup is not whole.
// Always   A backup appears under its name when it is complete, or not at all. No program starts on
//          a store that was restored in part only.
#pragma once

#include <string>

#include "common/adapters/mysql/backup/backup_file.h"
#include "common/adapters/mysql/client/session.h"
#include "common/base/clock.h"

namespace carillon::mysql {

inline constexpr Duration kBackupLockWait = 5s;  // a try; shorter than a read's time-out
inline constexpr int kBackupLockTriesMax = 24;
inline constexpr Duration kBackupLockLookEvery = 1s;

struct BackupOptions {
  SessionOptions session;
  std::string file;
  std::string search;  // PATH, where the client programs are
};
Result<BackupFile> CreateBackup(const BackupOptions& options, const Clock& clock);

struct RestoreOptions {
  SessionOptions session;
  std::string file;
  std::string search;
  bool replace = false;  // drop what is in the database; false: it has to be empty
};
Result<BackupFile> RestoreBackup(const RestoreOptions& options);

}  // namespace carillon::mysql
