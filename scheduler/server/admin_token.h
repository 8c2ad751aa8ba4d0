// The administrator's token, which the first member on an empty store creates.
#pragma once

#include "common/ports/store/auth_store.h"
#include "common/process/data_directory.h"

namespace carillon::scheduler {

// Says where the token's file is expected if the store already has a token.
enum class TokenOwner {
  kThisDirectory,  // in this data directory; without the file the token is lost: kDenied
  kAnyMember,      // in the data directory of any member
};

// Creates the token unless the store has one. The token is written to its file before it is stored.
// So a crash cannot leave a store whose only token nobody knows. kInvalid: the text in the file is
// not a token.
Status EnsureAdminToken(const process::DataDirectory& directory, AuthStore& store, WallTime now,
                        TokenOwner owner);

}  // namespace carillon::scheduler
