#include "scheduler/daemon/admin_token.h"

#include <unistd.h>

#include "common/base/log.h"
#include "scheduler/api/tokens.h"

namespace carillon::scheduler {

Status EnsureAdminToken(const process::DataDirectory& directory, AuthStore& store, WallTime now,
                        TokenOwner owner) {
  CARILLON_ASSIGN_OR_RETURN(std::string text, directory.ReadSecret("admin.token"));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const bool fresh = text.empty();
  if (fresh) {
    text = NewToken();
    CARILLON_TRY(directory.WriteSecret("admin.token", text + "\n"));
  }
  Status created = store.CreateFirstToken(FirstToken(text, now));
  if (created.ok() || created.code() != ErrorCode::kExists) return created;
  CARILLON_ASSIGN_OR_RETURN(const auto known, store.FindToken(HashToken(text)));
  if (known) return {};
  if (fresh) unlink(directory.token_file().c_str());
  if (owner == TokenOwner::kAnyMember) {
    if (!fresh) {
      log::Warn("scheduler", "{} is not a token of this store; another member has it",
                directory.token_file());
    }
    return {};
  }
  return {ErrorCode::kDenied, "the store has an administrator's token, but " +
                                  directory.token_file() + " does not hold it; restore that file"};
}

}  // namespace carillon::scheduler
