// Where a request comes from: the address of its connection. No proxy's word is taken for it.
#pragma once

#include <string>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

// "192.0.2.7" or "[2001:db8::7]".
std::string AddressOf(const HttpRequest& request);

// What one client has at least: its address, of IPv6 the /64 that it is in ("2001:db8:0:1::/64").
std::string NetworkOf(const std::string& address);

}  // namespace carillon::scheduler
