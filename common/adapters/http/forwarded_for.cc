#include "common/adapters/http/forwarded_for.h"

#include <algorithm>
#include <string_view>

namespace carillon::http {
namespace {

constexpr std::string_view kHeader = "x-forwarded-for";

// Removes and returns the last item of the list.
std::string_view TakeLast(std::string_view& list) {
  const size_t comma = list.rfind(',');
  std::string_view item = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
  while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
  while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
  return item;
}

// Parses an item of the list. Some proxies add the port: "192.0.2.7:4711", "[2001:db8::7]:4711".
std::optional<IpAddress> AddressOfItem(std::string_view item) {
  if (const auto address = IpAddress::Parse(item)) return address;
  const size_t colon = item.rfind(':');
  const bool has_port = colon != std::string_view::npos && colon > 0 &&
                        (item[colon - 1] == ']' || item.find(':') == colon);
  return has_port ? IpAddress::Parse(item.substr(0, colon)) : std::nullopt;
}

}  // namespace

bool IsAnyOf(const std::vector<IpNetwork>& networks, const std::string& address) {
  const auto parsed = IpAddress::Parse(address);
  return parsed && std::any_of(networks.begin(), networks.end(),
                               [&](const IpNetwork& network) { return network.Contains(*parsed); });
}

std::string ClientOf(const std::string& peer, const HttpHeaders& headers,
                     const std::vector<IpNetwork>& trusted) {
  std::string client = peer;
  if (trusted.empty() || !IsAnyOf(trusted, client)) return client;
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) {
    if (header->first != kHeader) continue;
    std::string_view list = header->second;
    while (!list.empty()) {
      const auto before = AddressOfItem(TakeLast(list));
      if (!before) return client;
      client = before->Text();
      if (!IsAnyOf(trusted, client)) return client;
    }
  }
  return client;
}

}  // namespace carillon::http
