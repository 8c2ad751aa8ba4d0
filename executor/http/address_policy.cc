#include "executor/http/address_policy.h"

#include <algorithm>
#include <string_view>

#include "common/base/check.h"

namespace carillon::executor {
namespace {

// RFC 6890 and the documentation of the providers.
constexpr std::string_view kDenied =
    "0.0.0.0/8,127.0.0.0/8,169.254.0.0/16,224.0.0.0/4,240.0.0.0/4,"
    // Metadata services outside link-local: Alibaba, Oracle, Azure, AWS, Google.
    "100.100.100.200,192.0.0.192,168.63.129.16,fd00:ec2::254,fd20:ce::254,"
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

bool AddressPolicy::Allows(const IpAddress& address) const {
  if (IsIn(deny_, address)) return false;
  if (const auto inner = address.Embedded()) return Allows(*inner);
  return IsIn(allow_, address) || !IsIn(Denied(), address);
}

}  // namespace carillon::executor
