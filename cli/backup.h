// `carillon backup`: writes the configured store to a file, and restores it.
//
// Errors   kInvalid: the settings are invalid, or name no store. kConflict: a server uses the data
//          directory. Otherwise those of mysql::CreateBackup and mysql::RestoreBackup.
#pragma once

#include "cli/terminal/host.h"

namespace carillon::cli {

// Backs up the configured store. A running standalone server publishes the socket through which its
// store is reached.
Result<BackupReply> CreateBackup(const BackupArguments& arguments);
// Returns the store that a restore would fill, for messages: "database carillon at db1:3306".
Result<std::string> RestoreTarget(const BackupArguments& arguments);
// Restores into the configured store. The store of a standalone server is the private database of
// its data directory. A missing data directory is created. No server may be using the directory.
Result<BackupReply> RestoreBackup(const BackupArguments& arguments);

}  // namespace carillon::cli
