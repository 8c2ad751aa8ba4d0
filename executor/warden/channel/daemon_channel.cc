#include "executor/warden/channel/daemon_channel.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace carillon::executor {
namespace {

constexpr int kBacklog = 8;
constexpr size_t kRequestReadBytes = 256u << 10;

// Returns the address of a socket by its path through an open directory. This path is always short;
// the path of a socket is limited to 107 bytes.
Result<sockaddr_un> AddressIn(int directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, name);
  if (path.size() >= sizeof(address.sun_path)) {
    return {ErrorCode::kInvalid, "warden: socket name too long: " + name};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Error SocketError(const char* what) {
  return {ErrorCode::kUnavailable, fmt::format("warden: {}: {}", what, std::strerror(errno))};
}

bool SameUser(int connection) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

}  // namespace

Result<int> ListenInDirectory(int directory, const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(const sockaddr_un address, AddressIn(directory, name));
  FileDescriptor socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_fd.open()) return SocketError("socket");
  unlinkat(directory, name.c_str(), 0);
  const mode_t before = umask(0177);
  const int bound =
      bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  umask(before);
  if (bound != 0) return SocketError("bind");
  if (listen(socket_fd.get(), kBacklog) != 0) return SocketError("listen");
  return socket_fd.Release();
}

Result<int> ConnectInDirectory(int directory, const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(const sockaddr_un address, AddressIn(directory, name));
  FileDescriptor socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_fd.open()) return SocketError("socket");
  if (connect(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return SocketError("connect");
  }
  return socket_fd.Release();
}

bool DaemonChannel::Accept() {
  FileDescriptor accepted(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted.open() || !SameUser(accepted.get())) return false;
  Close();
  connection_ = std::move(accepted);
  return true;
}

bool DaemonChannel::Read() {
  static char buffer[kRequestReadBytes];
  const ssize_t n = read(connection_.get(), buffer, sizeof(buffer));
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  reader_.Feed(std::string_view(buffer, static_cast<size_t>(n)));
  return true;
}

bool DaemonChannel::Next(WardenMessage* message) {
  while (connection_.open()) {
    const Result<bool> next = reader_.Next(message);
    if (!next.ok()) {
      Close();
      complaint_ = "hung up on the daemon: " + next.error().message;
      return false;
    }
    if (!*next) return false;
    if (greeted_) return true;
    if (!Greet(*message)) return false;
    if (std::holds_alternative<warden_message::Hello>(*message)) return true;
  }
  return false;
}

bool DaemonChannel::Greet(const WardenMessage& first) {
  const auto* hello = std::get_if<warden_message::Hello>(&first);
  if (hello == nullptr || hello->version != kWardenProtocolVersion) {
    Send(warden_message::Refused{
        fmt::format("this warden speaks protocol version {}, its executor version {}",
                    kWardenProtocolVersion, hello == nullptr ? 0 : hello->version)});
    static_cast<void>(Flush());
    Close();
    return false;
  }
  greeted_ = true;
  Send(welcome_);
  return true;
}

void DaemonChannel::Send(const WardenMessage& message) {
  if (connection_.open()) unsent_.Add(message);
}

std::string DaemonChannel::TakeComplaint() { return std::exchange(complaint_, {}); }

void DaemonChannel::Close() {
  connection_.Close();
  reader_ = FrameReader();
  unsent_ = FrameWriter();
  greeted_ = false;
}

}  // namespace carillon::executor
