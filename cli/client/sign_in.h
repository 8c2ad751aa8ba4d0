// The session of `carillon login`: signs in, refreshes the access token, changes the password,
// signs out. Uses the REST API.
//
// Errors   Those of the API. Exit code 4: the session has ended.
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
// Returns a valid access token of the session in `file` for the client's first address. If the
// token is about to expire, it is refreshed first. nullopt if there is no session.
Outcome<std::optional<std::string>> AccessToken(ApiClient& client, SessionFile& file, WallTime now);
// Changes the password. The server ends all sessions of the user and returns a new session. The new
// session replaces the old one in `file`, under the client's first address. If there is no session,
// returns a Failure with code user_needed.
Outcome<StoredSession> ChangePassword(ApiClient& client, SessionFile& file,
                                      const PasswordChange& change, WallTime now);
// Ends the session on the server and removes it from `file`. False if there was no session.
Outcome<bool> SignOut(ApiClient& client, SessionFile& file);

}  // namespace carillon::cli
