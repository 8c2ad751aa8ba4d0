// The client of a request that proxies handed on, by X-Forwarded-For. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "common/base/ip_address.h"

namespace carillon::http {

bool IsAnyOf(const std::vector<IpNetwork>& networks, const std::string& address);

// `peer`: the address of the connection. Each proxy appends the address that it was asked from, so
// the header is read from its end for as long as what wrote it is `trusted`; what stands before
// that, anybody may have made up. E.g. of peer 10.0.0.1 and "1.2.3.4, 192.0.2.7, 10.0.0.2", with
// 10.0.0.0/8 trusted, it is 192.0.2.7.
std::string ClientOf(const std::string& peer, const HttpHeaders& headers,
                     const std::vector<IpNetwork>& trusted);

}  // namespace carillon::http
