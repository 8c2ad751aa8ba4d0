// The administrator's token, which the first member on an empty store creates.
#pragma once

#include "common/ports/store/auth_store.h"
#include "common/process/data_directory.h"

namespace carillon::scheduler {

// Where the token's file must be if the store has a token already.
enum class TokenOwner {
  kThisDirectory,  // in this data directory; otherwise it is lost, and the answer is kDenied
  kAnyMember,      // in the data directory of any member
};

// Creates the token unless the store has one. It is written to its file before it is stored, so
// that no crash can leave a store whose only token is unknown. kInvalid: the file has a text that
// is not a token.
Status EnsureAdminToken(const process::DataDirectory& directory, AuthStore& store, WallTime now,
                        TokenOwner owner);

}  // namespace carillon::scheduler
