// Decides which request follows a redirect, or asks for the status of accepted work. Pure.
//
// Always   Headers and bodies with secrets, the headers Authorization, Cookie and Host, and the
//          client certificate are not sent to another origin (scheme, host and port).
#pragma once

#include <string>
#include <string_view>

#include "common/ports/http_runner.h"

namespace carillon::executor {

bool IsRedirect(int status);

// Changes `request` into the one that follows. kDenied: the target is not http(s), contains a user,
// or would get a body with secrets of another origin. kInvalid: `location` is no URL.
Status FollowRedirect(int status, std::string_view location, StartHttp& request);

// Changes `request` into the GET of the status. `named` is the text at poll.url_at, `location` the
// header of the response; empty = none. Same errors.
Status AskForStatus(const HttpPoll& poll, std::string_view named, std::string_view location,
                    StartHttp& request);

}  // namespace carillon::executor
