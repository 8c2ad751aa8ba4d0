#include "executor/http/own_address.h"

#include <netinet/in.h>
#include <unistd.h>

#include <cstring>

namespace carillon::executor {
namespace {

// Any port: connecting a datagram socket only chooses the route and the address to send from.
constexpr in_port_t kPort = 9;

bool SameHost(const sockaddr_storage& one, const sockaddr_storage& other) {
  if (one.ss_family != other.ss_family) return false;
  if (one.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(one).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(one).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(other).sin6_addr,
                     sizeof(in6_addr)) == 0;
}

}  // namespace

bool IsOwnAddress(const sockaddr& address, socklen_t length) {
  sockaddr_storage target{};
  if (length > sizeof target) return false;
  std::memcpy(&target, &address, length);
  if (target.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(target).sin_port = htons(kPort);
  } else if (target.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(target).sin6_port = htons(kPort);
  } else {
    return false;
  }
  const int probe = socket(target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // Without a descriptor for this socket there is none for the request either.
  if (probe < 0) return true;
  // The kernel sends from the very address only if it is one of its own. An address without a route
  // is none of them.
  sockaddr_storage from{};
  socklen_t from_length = sizeof from;
  const bool own = connect(probe, reinterpret_cast<const sockaddr*>(&target), length) == 0 &&
                   getsockname(probe, reinterpret_cast<sockaddr*>(&from), &from_length) == 0 &&
                   SameHost(target, from);
  close(probe);
  return own;
}

}  // namespace carillon::executor
