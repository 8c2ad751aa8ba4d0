// The administrator's token: made once, on an empty store, by the member that made it.
#pragma once

#include "common/ports/auth_store.h"
#include "common/process/data_directory.h"

namespace carillon::scheduler {

// The result for a member that lacks the existing token.
enum class TokenOwner {
  kThisDirectory,  // kDenied: its file is lost
  kAnyMember,      // another one has it
};

// Written to its file first, so that a crash cannot leave a store with a token that is lost.
Status EnsureAdminToken(const process::DataDirectory& directory, AuthStore& store, WallTime now,
                        TokenOwner owner);

}  // namespace carillon::scheduler
