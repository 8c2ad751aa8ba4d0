// The path under which a proxy serves Carillon. The proxy removes it from each request and sends
// it in X-Forwarded-Prefix.
#pragma once

#include <string>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

// With slashes at both ends; "/" if the header is absent or not a plain path.
std::string PrefixOf(const HttpRequest& request);

// The address of `path`, which begins with a slash, for who sent the request.
std::string BelowPrefix(const HttpRequest& request, const std::string& path);

}  // namespace carillon::scheduler
