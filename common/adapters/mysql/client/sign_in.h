// Keeps the password from a server to which the connection is not encrypted.
//
// With sslEnforce, the client library goes on without TLS if the server does not offer it, and then
// its caching_sha2_password sends the password in clear text. In each mode, it also does so for a
// server that asks by mysql_clear_password or dialog. So two ways to sign in are added to those of
// the library:
//   kTlsFirst     for the connector's option "defaultAuth". Sends nothing if the server does not
//                 offer TLS, and inside of TLS only the user's name, which the server answers with
//                 its own way.
//   clear text    in place of the library's own. Sends the password inside of TLS or over a unix
//                 socket.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::mysql {

inline constexpr char kTlsFirst[] = "carillon_tls_first";

// Adds the ways. Must be called once, after the library has started.
Status AddWaysToSignIn();

// Why the last sign-in of this thread was refused by one of them; "" if it was not. Forgets it.
std::string TakeRefusedSignIn();

}  // namespace carillon::mysql
