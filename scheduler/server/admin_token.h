// The administrator's token: made once, on an empty store, by the member that made it.
#pragma once

#include "common/ports/auth_store.h"
#include "common/process/data_directory.h"

namespace carillon::scheduler {

// What an existing token means to a member that does not have it.
enum class TokenOwner {
  kThisDirectory,  // kDenied: its file is lost
  kAnyMember,      // another one has it
};

// Written to its file first, so that no crash can leave a store whose only token nobody knows.
Status EnsureAdminToken(const process::DataDirectory& directory, AuthStore& store, WallTime now,
                        TokenOwner owner);

}  // namespace carillon::scheduler
