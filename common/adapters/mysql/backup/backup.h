// Writes a store to a backup file, and restores it from one.
//
// A dump reads a consistent snapshot of all tables. But if another connection drops a partition
// meanwhile, the dump silently lacks the partition's rows. So a backup holds the maintenance lock,
// which every member takes before it changes partitions. If a member finds the lock taken, it
// retries minutes later.
//
// Threads  Each call blocks until it is done. While CreateBackup copies the dump, it checks every
//          second that it still holds the lock.
// Errors   kNotFound: no client programs, or no store.
//          kConflict: the lock is taken, or a member changed the schema during the backup; or the
//          target of a restore is not empty or in use, or the backup is of a newer schema.
//          kUnavailable: the server, a program or the file failed, or the lock was lost.
//          kCorrupt: the backup is incomplete.
// Always   A backup appears under its name only when it is complete. No program starts on a store
//          that was restored only in part.
#pragma once

#include <string>

#include "common/adapters/mysql/backup/backup_file.h"
#include "common/adapters/mysql/client/session.h"
#include "common/base/clock.h"

namespace carillon::mysql {

inline constexpr Duration kBackupLockWait = 5s;  // per attempt; shorter than the read timeout
inline constexpr int kBackupLockTriesMax = 24;
inline constexpr Duration kBackupLockLookEvery = 1s;

struct BackupOptions {
  SessionOptions session;
  std::string file;
  std::string search;  // directories of the client programs, as in PATH
};
Result<BackupFile> CreateBackup(const BackupOptions& options, const Clock& clock);

struct RestoreOptions {
  SessionOptions session;
  std::string file;
  std::string search;
  bool replace = false;  // drop existing tables first; otherwise the database must be empty
};
Result<BackupFile> RestoreBackup(const RestoreOptions& options);

}  // namespace carillon::mysql
