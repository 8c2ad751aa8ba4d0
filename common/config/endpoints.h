// Settings of the form host:port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/load.h"

namespace carillon::config {

struct Endpoint {
  std::string host;  // a name or an IPv4 address; an IPv6 address is in brackets
  uint16_t port = 0;

  std::string Text() const { return host + ":" + std::to_string(port); }
  bool operator==(const Endpoint&) const = default;
};
// nullopt if `text` is not host:port.
std::optional<Endpoint> ParseEndpoint(std::string_view text);

// The addresses of link.members; empty: ZooKeeper lists the members.
std::vector<Endpoint> LinkMembers(const Config& config);
// The address of standalone.executors; nullopt: no executors of other hosts.
std::optional<Endpoint> StandaloneExecutors(const Config& config);

// kInvalid: one of these settings is malformed, or link.members lacks TLS. Load calls it.
Status CheckEndpoints(const Config& config);

}  // namespace carillon::config
