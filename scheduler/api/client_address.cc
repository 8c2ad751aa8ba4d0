#include "scheduler/api/client_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace carillon::scheduler {

std::string AddressOf(const HttpRequest& request) {
  return request.peer.substr(0, request.peer.rfind(':'));
}

std::string NetworkOf(const std::string& address) {
  if (!address.starts_with('[') || !address.ends_with(']')) return address;
  const std::string inner = address.substr(1, address.size() - 2);
  in6_addr bytes{};
  if (inet_pton(AF_INET6, inner.c_str(), &bytes) != 1) return address;
  if (IN6_IS_ADDR_V4MAPPED(&bytes)) return address;
  std::fill(std::begin(bytes.s6_addr) + 8, std::end(bytes.s6_addr), uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, &bytes, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

}  // namespace carillon::scheduler
