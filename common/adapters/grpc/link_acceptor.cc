#include "common/adapters/grpc/link_acceptor.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "common/base/ip_address.h"
#include "common/base/log.h"

namespace carillon::rpc {
namespace {

constexpr int kBacklog = 512;
constexpr int kLookMs = 1000;
constexpr int kRetryAcceptMs = 100;
constexpr int64_t kTellEveryS = 60;
// A dead connection is noticed after 60 + 3 × 10 s, also if something was being sent on it.
constexpr int kProbeAfterS = 60;
constexpr int kProbeEveryS = 10;
constexpr int kProbes = 3;
constexpr int kUnreceivedMs = 90'000;

struct PeerName {
  std::string address;
  std::string port;
  std::string Key() const { return address + "," + port; }
};

std::optional<PeerName> NameOf(const sockaddr_storage& peer, socklen_t size) {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  const auto* given = reinterpret_cast<const sockaddr*>(&peer);
  if (getnameinfo(given, size, host, sizeof(host), port, sizeof(port),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return std::nullopt;
  }
  constexpr std::string_view kMapped = "::ffff:";
  std::string address = host;
  if (address.starts_with(kMapped) && address.find('.') != std::string::npos)
    address.erase(0, kMapped.size());
  return PeerName{std::move(address), port};
}

// gRPC names a peer "ipv4:192.0.2.1:80" or, as a URI, "ipv6:%5B2001:db8::1%5D:80".
std::string KeyOf(std::string peer) {
  for (const std::string_view bracket : {"%5B", "%5D", "[", "]"}) {
    for (size_t at = 0; (at = peer.find(bracket, at)) != std::string::npos;)
      peer.erase(at, bracket.size());
  }
  for (size_t at = 0; (at = peer.find("%25", at)) != std::string::npos;) peer.replace(at, 3, "%");
  const size_t first = peer.find(':');
  const size_t last = peer.rfind(':');
  if (first == std::string::npos || first == last) return peer;
  return peer.substr(first + 1, last - first - 1) + "," + peer.substr(last + 1);
}

// 0: the descriptor is none of a socket.
uint64_t CookieOf(int fd) {
  uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

// A host that has lost its power never ends its connections. Who has registered is given up when it
// is silent; these probes of the kernel are for all others. A connection in use sends none.
void KeepAlive(int fd) {
  constexpr int kOn = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof(kOn));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kProbeAfterS, sizeof(kProbeAfterS));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeEveryS, sizeof(kProbeEveryS));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof(kProbes));
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnreceivedMs, sizeof(kUnreceivedMs));
}

Error Failed(const std::string& what, const std::string& why) {
  return {ErrorCode::kUnavailable, "control link: cannot " + what + ": " + why};
}

std::string WithoutBrackets(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

// Returns the listening socket, or -1 with errno.
int ListenAt(const addrinfo& at) {
  const int listener = socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  const int on = 1;
  const int off = 0;
  const bool listens = setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                       (at.ai_family != AF_INET6 ||
                        setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0) &&
                       bind(listener, at.ai_addr, at.ai_addrlen) == 0 &&
                       listen(listener, kBacklog) == 0;
  if (listens) return listener;
  const int error = errno;
  close(listener);
  errno = error;
  return -1;
}

int64_t Seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

}  // namespace

size_t LinkConnectionsMax() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 512;
  return std::min<rlim_t>(files.rlim_cur, INT_MAX) / 2;
}

Result<std::unique_ptr<LinkAcceptor>> LinkAcceptor::Listen(Options options, Taker& taker) {
  std::unique_ptr<LinkAcceptor> made(new LinkAcceptor(std::move(options), taker));
  CARILLON_TRY(made->Open());
  return made;
}

Status LinkAcceptor::Open() {
  const std::string shown = options_.address + ":" + std::to_string(options_.port);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) return Failed("listen on " + shown, std::strerror(errno));
  const addrinfo wanted{
      .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const std::string host = WithoutBrackets(options_.address);
  const int code =
      getaddrinfo(host.c_str(), std::to_string(options_.port).c_str(), &wanted, &found);
  if (code != 0) return Failed("listen on " + shown, gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, freeaddrinfo);
  // A name may have an address of a family that this host does not use.
  for (const addrinfo* one = found; one != nullptr && listener_ < 0; one = one->ai_next)
    listener_ = ListenAt(*one);
  if (listener_ < 0) return Failed("listen on " + shown, std::strerror(errno));
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return Failed("listen on " + shown, std::strerror(errno));
  }
  // Both families have the port at the same place.
  port_ = ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return {};
}

void LinkAcceptor::Start() {
  thread_ = std::thread([this] { Run(); });
}

void LinkAcceptor::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  static_cast<void>(write(stop_, &one, sizeof(one)));
  thread_.join();
}

LinkAcceptor::~LinkAcceptor() {
  Stop();
  for (const int fd : {listener_, stop_}) {
    if (fd >= 0) close(fd);
  }
}

void LinkAcceptor::Run() {
  while (true) {
    pollfd fds[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                    {.fd = listener_, .events = POLLIN, .revents = 0}};
    const int ready = poll(fds, 2, kLookMs);
    if (fds[0].revents != 0) return;
    if (ready > 0) {
      AcceptOne();
    } else if (ready == 0) {
      MutexLock lock(mu_);
      DropEnded();
    }
  }
}

void LinkAcceptor::SetStranger(Connections::value_type& entry, bool is_one) {
  auto& [key, connection] = entry;
  if (connection.stranger_since) {
    strangers_.Remove(connection.network, key, *connection.stranger_since);
    connection.stranger_since.reset();
  }
  if (!is_one) return;
  connection.stranger_since = Seconds();
  strangers_.Add(connection.network, key, *connection.stranger_since);
}

LinkAcceptor::Connections::iterator LinkAcceptor::Drop(Connections::iterator ended) {
  SetStranger(*ended, false);
  return connections_.erase(ended);
}

// A connection that is over may still have its place, because nobody says when gRPC closes one.
void LinkAcceptor::DropEnded() {
  dropped_ = Seconds();
  for (auto at = connections_.begin(); at != connections_.end();) {
    at = CookieOf(at->second.fd) == at->second.cookie ? std::next(at) : Drop(at);
  }
}

// Not all connections: while a fleet of thousands comes back, many are refused.
void LinkAcceptor::DropEndedStrangers(const std::string& network) {
  for (const auto& [since, key] : strangers_.Of(network)) {
    const auto found = connections_.find(key);
    if (CookieOf(found->second.fd) != found->second.cookie) Drop(found);
  }
}

bool LinkAcceptor::Take(const std::string& address, const std::string& key, Connection connection) {
  connection.network = NetworkOf(address);
  MutexLock lock(mu_);
  // One of this name is over, or this one would not be.
  if (const auto ended = connections_.find(key); ended != connections_.end()) Drop(ended);
  if (!strangers_.MayCome(connection.network, Seconds())) DropEndedStrangers(connection.network);
  if (!strangers_.MayCome(connection.network, Seconds())) return false;
  const bool full = connections_.size() >= options_.connections_max;
  if (full && dropped_ != Seconds()) DropEnded();
  if (connections_.size() >= options_.connections_max) return false;
  SetStranger(*connections_.emplace(key, std::move(connection)).first, true);
  return true;
}

void LinkAcceptor::AcceptOne() {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  const int fd =
      accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return;
    // Without free descriptors the connection stays in the queue, and would be tried without
    // a pause.
    log::Warn("link", "cannot accept a connection: {}", std::strerror(errno));
    pollfd stop{.fd = stop_, .events = POLLIN, .revents = 0};
    poll(&stop, 1, kRetryAcceptMs);
    return;
  }
  const auto name = NameOf(peer, size);
  const uint64_t cookie = CookieOf(fd);
  if (!name || cookie == 0 || !Take(name->address, name->Key(), {.fd = fd, .cookie = cookie})) {
    close(fd);
    taker_.Refused();
    return Tell(name ? name->address : "an unknown address");
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  KeepAlive(fd);
  taker_.Take(fd);
}

void LinkAcceptor::Tell(const std::string& address) {
  const int64_t now = Seconds();
  if (told_ != 0 && now - told_ < kTellEveryS) return;
  told_ = now;
  log::Warn(
      "link",
      "a connection from {} is refused: too many connections have no executor yet, or are open",
      address);
}

void LinkAcceptor::Know(const std::string& peer) {
  MutexLock lock(mu_);
  const auto found = connections_.find(KeyOf(peer));
  if (found == connections_.end()) return;
  ++found->second.streams;
  SetStranger(*found, false);
}

void LinkAcceptor::Forget(const std::string& peer) {
  MutexLock lock(mu_);
  const auto found = connections_.find(KeyOf(peer));
  if (found == connections_.end() || found->second.streams == 0) return;
  // gRPC closes it when it has been idle for a while.
  if (--found->second.streams == 0) SetStranger(*found, true);
}

}  // namespace carillon::rpc
