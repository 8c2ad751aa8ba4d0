// Decides to which addresses http jobs may send requests. Pure.
//
// An address is judged when its socket is opened, after DNS and at each redirect, so a name that
// changes its address (DNS rebinding) does not help. Private networks are allowed, because calling
// services inside is the purpose.
//
// Always   Denied unless allowed by the settings: loopback and the host's other addresses, which a
//          firewall does not shield from the host itself; link-local, unspecified, multicast,
//          benchmarking and reserved addresses; tunnels whose end is not in the address; and the
//          addresses of cloud metadata services. An IPv4 address inside an IPv6 address (mapped,
//          translated, NAT64, 6to4) is judged as itself.
#pragma once

#include <vector>

#include "common/base/ip_address.h"

namespace carillon::executor {

class AddressPolicy {
 public:
  AddressPolicy() = default;
  // `deny` goes before `allow`, and `allow` before the addresses above.
  AddressPolicy(std::vector<IpNetwork> allow, std::vector<IpNetwork> deny)
      : allow_(std::move(allow)), deny_(std::move(deny)) {}

  // `own`: it is an address of this host (IsOwnAddress).
  bool Allows(const IpAddress& address, bool own) const;

 private:
  std::vector<IpNetwork> allow_;
  std::vector<IpNetwork> deny_;
};

}  // namespace carillon::executor
