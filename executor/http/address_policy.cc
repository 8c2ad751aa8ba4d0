#include "executor/http/address_policy.h"

#include <algorithm>
#include <string_view>

#include "common/base/check.h"

namespace carillon::executor {
namespace {

// The registries of special addresses (RFC 6890) and the documentation of the providers.
// 100.64.0.0/10 is allowed like the private networks: overlays between hosts use it.
constexpr std::string_view kDenied =
    "0.0.0.0/8,127.0.0.0/8,169.254.0.0/16,192.0.0.0/24,198.18.0.0/15,224.0.0.0/4,240.0.0.0/4,"
    // Metadata services outside link-local: Alibaba, Oracle, Azure, AWS, Google.
    "100.100.100.200,168.63.129.16,fd00:ec2::254,fd20:ce::254,"
    // NAT64 for one network, discard-only, Teredo.
    "64:ff9b:1::/48,100::/64,2001::/32,"
    "::/96,fe80::/10,fec0::/10,ff00::/8";

const std::vector<IpNetwork>& Denied() {
  static const std::vector<IpNetwork> networks = [] {
    auto parsed = ParseNetworks(kDenied);
    CARILLON_CHECK(parsed.has_value(), "the denied networks");
    return *std::move(parsed);
  }();
  return networks;
}

bool IsIn(const std::vector<IpNetwork>& networks, const IpAddress& address) {
  return std::any_of(networks.begin(), networks.end(),
                     [&](const IpNetwork& network) { return network.Contains(address); });
}

}  // namespace

bool AddressPolicy::Allows(const IpAddress& address, bool own) const {
  if (IsIn(deny_, address)) return false;
  if (const auto inner = address.Embedded()) return Allows(*inner, own);
  return IsIn(allow_, address) || !(own || IsIn(Denied(), address));
}

}  // namespace carillon::executor
