// Decides which request follows a redirect. Pure.
//
// Always   Headers and bodies with secrets, and the headers Authorization and Cookie, are not sent
//          to another origin (scheme, host and port).
#pragma once

#include <string>
#include <string_view>

#include "common/ports/http_runner.h"

namespace carillon::executor {

bool IsRedirect(int status);

// Changes `request` into the one that follows. kDenied: the target is not http(s), contains a user,
// or would get a body with secrets of another origin. kInvalid: `location` is no URL.
Status FollowRedirect(int status, std::string_view location, StartHttp& request);

}  // namespace carillon::executor
