// Finds the client of a request that came through proxies, by X-Forwarded-For. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "common/base/ip_address.h"

namespace carillon::http {

bool IsAnyOf(const std::vector<IpNetwork>& networks, const std::string& address);

// `peer` is the address of the connection. Each proxy appends the address of its own caller to the
// header. So the header is read from its end, and `peer` counts as the address after the end. An
// address is believed if the address to its right is `trusted`. Addresses further left may be
// forged.
// Example: peer 10.0.0.1, header "1.2.3.4, 192.0.2.7, 10.0.0.2" and trusted 10.0.0.0/8 give
// the address 192.0.2.7.
std::string ClientOf(const std::string& peer, const HttpHeaders& headers,
                     const std::vector<IpNetwork>& trusted);

}  // namespace carillon::http
