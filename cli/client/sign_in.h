// Signs in, uses and refreshes a session, and signs out, over the REST API.
//
// Errors   Those of the API; exit code 4 if the session has ended.
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

// Signs in and stores the session in `file` under the client's first address.
Outcome<StoredSession> SignIn(ApiClient& client, SessionFile& file, const Credentials& credentials,
                              WallTime now);
// Returns a valid access token of the session in `file` for the client's first address; if it is
// about to expire, refreshes it first. nullopt if there is no session.
Outcome<std::optional<std::string>> AccessToken(ApiClient& client, SessionFile& file, WallTime now);
// Changes the password. The server ends all sessions and returns a new one, which replaces the one
// in `file` for the client's first address. Code user_needed if there is no session.
Outcome<StoredSession> ChangePassword(ApiClient& client, SessionFile& file,
                                      const PasswordChange& change, WallTime now);
// Ends the session on the server and removes it from the file. False if there was none.
Outcome<bool> SignOut(ApiClient& client, SessionFile& file);

}  // namespace carillon::cli
