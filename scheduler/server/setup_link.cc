#include "scheduler/server/setup_link.h"

#include "common/base/log.h"
#include "scheduler/api/accounts/auth_routes.h"
#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {

std::string NewSetupLink(AuthStore& store, const std::string& url, const Result<WallTime>& now) {
  const auto needed = store.NeedsSetup();
  if (needed.ok() && !*needed) return {};
  const std::string token = RandomText(kSecretBytes);
  Status put = needed.ok() ? Status() : Status(needed.error());
  if (put.ok() && !now.ok()) put = now.error();
  if (put.ok()) put = store.PutSetupLink(HashSecret(token), *now + kSetupLinkLife);
  if (put.ok()) return url + SetupPath(token);
  // An administrator was set up meanwhile.
  if (put.code() == ErrorCode::kConflict) return {};
  log::Warn("scheduler", "no setup link: {}", put.error().message);
  return {};
}

std::string SetupText(const std::string& link) {
  if (link.empty()) return {};
  return "\nno administrator can sign in yet; this link sets up the first one, once, within 24 "
         "hours:\n  " +
         link;
}

}  // namespace carillon::scheduler
