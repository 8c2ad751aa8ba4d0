// `carillon backup`: writes the configured store to a file, and restores it.
//
// Errors   kInvalid: the settings are invalid, or name no store. Otherwise as mysql::CreateBackup
//          and mysql::RestoreBackup; kConflict for a data directory that a server uses.
#pragma once

#include "cli/terminal/host.h"

namespace carillon::cli {

// Backs up the configured store. The store of a running standalone server is reached through the
// socket that the server publishes.
Result<BackupReply> CreateBackup(const BackupArguments& arguments);
// The store that a restore would fill, for messages: "database carillon at db1:3306".
Result<std::string> RestoreTarget(const BackupArguments& arguments);
// Restores into the configured store. For standalone that is the private database of a data
// directory, which no server may be using and which is created if missing.
Result<BackupReply> RestoreBackup(const BackupArguments& arguments);

}  // namespace carillon::cli
