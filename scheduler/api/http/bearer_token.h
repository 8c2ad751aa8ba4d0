// The bearer token of a request (RFC 6750).
#pragma once

#include <string>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

// Empty: no Authorization header, several of them, or another scheme.
std::string BearerToken(const HttpRequest& request);

}  // namespace carillon::scheduler
