// Signing in, going on with a session, signing out, over the REST API.
//
// Errors   As the API's; exit code 4 when the session has ended.
#pragma once

#include <optional>
#include <string>

#include "cli/client/api_client.h"
#include "cli/client/session_file.h"
#include "common/base/clock.h"

namespace carillon::cli {

struct Credentials {
  std::string name;
  std::string password;
};

struct PasswordChange {
  std::string before;
  std::string after;
};

// The session is kept in `file` under the client's first address.
Outcome<StoredSession> SignIn(ApiClient& client, SessionFile& file, const Credentials& credentials,
                              WallTime now);
// A valid access token of the session that `file` has for the client's first address; refreshed
// when it is about to expire. nullopt: there is no session.
Outcome<std::optional<std::string>> AccessToken(ApiClient& client, SessionFile& file, WallTime now);
// The session that `file` has for the client's first address goes on with the new password: the one
// that the server gives takes its place, all others have ended. Code user_needed: there is none.
Outcome<StoredSession> ChangePassword(ApiClient& client, SessionFile& file,
                                      const PasswordChange& change, WallTime now);
// The session ends at the server and is forgotten here; false: there was none.
Outcome<bool> SignOut(ApiClient& client, SessionFile& file);

}  // namespace carillon::cli
