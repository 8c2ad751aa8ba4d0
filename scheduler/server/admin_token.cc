#include "scheduler/server/admin_token.h"

#include <unistd.h>

#include "common/base/log.h"
#include "scheduler/auth/authenticator.h"

namespace carillon::scheduler {

namespace {

// The answer if the store has a token that is not in this member's file. This is an error, unless
// the file may be in another member's directory.
Status IsElsewhere(const process::DataDirectory& directory, TokenOwner owner, bool has_file) {
  if (owner == TokenOwner::kAnyMember) {
    if (has_file) {
      log::Warn("scheduler", "{} is not a token of this store; another member has it",
                directory.token_file());
    }
    return {};
  }
  return {ErrorCode::kDenied, "the store has an administrator's token, but " +
                                  directory.token_file() + " does not hold it; restore that file"};
}

}  // namespace

Status EnsureAdminToken(const process::DataDirectory& directory, AuthStore& store, WallTime now,
                        TokenOwner owner) {
  CARILLON_ASSIGN_OR_RETURN(std::string text, directory.ReadSecret("admin.token"));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const bool fresh = text.empty();
  // A text that could be guessed must not become the token of an empty store.
  if (!fresh && !IsToken(text)) {
    return {ErrorCode::kInvalid, directory.token_file() +
                                     " does not hold a token; restore it, or delete it where the "
                                     "store is empty"};
  }
  if (fresh) {
    // Check the store before writing the file. A reader of the file must not find a token that the
    // store does not accept.
    CARILLON_ASSIGN_OR_RETURN(const auto tokens, store.ListTokens({.limit = 1}));
    if (!tokens.empty()) return IsElsewhere(directory, owner, false);
    text = NewToken();
    CARILLON_TRY(directory.WriteSecret("admin.token", text + "\n"));
  }
  Status created = store.CreateFirstToken(FirstToken(text, now));
  if (created.ok() || created.code() != ErrorCode::kExists) return created;
  CARILLON_ASSIGN_OR_RETURN(const auto known, store.FindToken(HashToken(text)));
  if (known) return {};
  if (fresh) unlink(directory.token_file().c_str());  // another member has just created its token
  return IsElsewhere(directory, owner, !fresh);
}

}  // namespace carillon::scheduler
