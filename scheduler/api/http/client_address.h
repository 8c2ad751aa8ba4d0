// The address that a request comes from: the address of its connection, or the address that a
// trusted proxy reports.
#pragma once

#include <string>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

// "192.0.2.7" or "[2001:db8::7]".
std::string AddressOf(const HttpRequest& request);

}  // namespace carillon::scheduler
