// `carillon backup`: the store that the settings name, as a file and back.
//
// Errors   kInvalid: the settings are wrong, or name no store. Otherwise as mysql::CreateBackup and
//          mysql::RestoreBackup; of a data directory that a server uses, kConflict.
#pragma once

#include "cli/terminal/host.h"

namespace carillon::cli {

// The store of a standalone server that runs, through the socket that it has published.
Result<BackupReply> CreateBackup(const BackupArguments& arguments);
// The store that a restore would fill, in words: "database carillon at db1:3306".
Result<std::string> RestoreTarget(const BackupArguments& arguments);
// Into the private database of a data directory on which no server runs, which is made where there
// is none.
Result<BackupReply> RestoreBackup(const BackupArguments& arguments);

}  // namespace carillon::cli
