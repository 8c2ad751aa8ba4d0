#include "executor/http/http_proxy.h"

#include <optional>

#include "common/base/ip_address.h"
#include "common/base/lower_case.h"

namespace carillon::executor {
namespace {

bool Names(std::string_view item, const std::string& host,
           const std::optional<IpAddress>& address) {
  if (item == "*") return true;
  if (address) {
    const auto network = IpNetwork::Parse(std::string(item));
    return network && network->Contains(*address);
  }
  if (item.starts_with('*')) item.remove_prefix(1);
  if (item.starts_with('.')) item.remove_prefix(1);
  if (item.empty()) return false;
  const std::string name = LowerCase(item);
  return host == name || host.ends_with("." + name);
}

}  // namespace

bool HttpProxy::IsUsedFor(std::string_view host) const {
  if (url.empty()) return false;
  std::string name = LowerCase(host);
  if (name.ends_with('.')) name.pop_back();
  const auto address = IpAddress::Parse(name);
  std::string_view left = direct;
  while (!left.empty()) {
    std::string_view item = left.substr(0, left.find(','));
    left.remove_prefix(std::min(item.size() + 1, left.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (Names(item, name, address)) return false;
  }
  return true;
}

}  // namespace carillon::executor
