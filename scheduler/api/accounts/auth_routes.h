// Handlers of sign-in: setup, login, refresh, logout, the current user and their password.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply AuthState(const Call& call);
Reply SetUp(const Call& call);
Reply Login(const Call& call);
Reply RefreshSession(const Call& call);
Reply Logout(const Call& call);
Reply WhoAmI(const Call& call);
Reply ChangeMe(const Call& call);
Reply ChangePassword(const Call& call);
Reply CreateSetupLink(const Call& call);

// How long a setup link is valid.
inline constexpr Duration kSetupLinkLife = 24h;
// Returns the path of a link with this token, below a server's URL. The token is in the fragment.
// Browsers do not send the fragment, so no log contains the token.
std::string SetupPath(const std::string& token);

}  // namespace carillon::scheduler
