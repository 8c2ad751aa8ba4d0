#include "common/adapters/grpc/grpc_worker_door.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/adapters/grpc/grpc_include.h"
#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/log.h"

namespace carillon::rpc {
namespace {

constexpr const char* kWorkerMethod = "/carillon.worker.v1.WorkerService/Attach";
constexpr int kWorkerMessageBytesMax = 16 << 20;
constexpr int kDoorBacklog = 128;
// The numbers of accepted descriptors come from the upper half of those that the process may have,
// at most this many, in turn. So a number is used again only after many others, and a stream of a
// connection that has ended is not taken for one of a later connection.
constexpr int kNumbersMax = 4000;
constexpr int kDoorRetryMs = 100;
// Workers, and those that have not said who they are.
constexpr size_t kConnectionsMax = 96;
constexpr size_t kStrangersOfUserMax = 4;
// One stream of each connection. The quota of threads also holds for a client that ignores that.
constexpr int kStreamsOfConnection = 1;
constexpr int kThreadsMax = 128;
// In ticks of a timer.
constexpr timespec kTick{.tv_sec = 1, .tv_nsec = 0};
constexpr uint64_t kHelloWithinTicks = 5;
constexpr uint64_t kTellEveryTicks = 60;

using Grpc = grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

grpc::StatusCode CodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::kDenied: return grpc::StatusCode::PERMISSION_DENIED;
    case ErrorCode::kConflict: return grpc::StatusCode::FAILED_PRECONDITION;
    case ErrorCode::kExhausted: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    default: return grpc::StatusCode::UNAVAILABLE;
  }
}

Error SocketError(const std::string& what, const std::string& path) {
  return {ErrorCode::kUnavailable, what + " " + path + ": " + std::strerror(errno)};
}

class Door final : public WorkerDoor {
 public:
  explicit Door(WorkerHost& host) : host_(host), service_(*this) {}
  ~Door() override;
  Status Open(const std::string& path, bool for_all);
  grpc::Status Attach(grpc::ServerContext& context, Grpc& stream);
  void Know(int number);

 private:
  // `own` is another descriptor of the same socket than that of gRPC, so that it can be closed
  // whatever gRPC does, and its end be noticed.
  struct Connection {
    WorkerPeer peer;
    int own = -1;  // -1: it is over
    bool known = false;
    uint64_t since = 0;  // tick; not known from then on
  };
  class Service final : public grpc::Service {
   public:
    explicit Service(Door& door) {
      using Handler =
          grpc::internal::BidiStreamingHandler<Door, grpc::ByteBuffer, grpc::ByteBuffer>;
      AddMethod(new grpc::internal::RpcServiceMethod(
          kWorkerMethod, grpc::internal::RpcMethod::BIDI_STREAMING,
          new Handler([](Door* self, grpc::ServerContext* context,
                         Grpc* stream) { return self->Attach(*context, *stream); },
                      &door)));
    }
  };

  void Accept();
  void AcceptOne();
  void Admit(int fd);
  int Renumber(int fd);
  std::string WhyNot(const ucred& peer);
  void Tell(const std::string& what);
  void CloseLate();
  void End(Connection& connection);
  void Cut(Connection& connection);
  void EndOver(const std::vector<pollfd>& fds, const std::vector<int>& numbers);

  WorkerHost& host_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::string path_;
  int listener_ = -1;
  int stop_ = -1;
  int timer_ = -1;
  int first_number_ = 0;
  int end_number_ = 0;
  int next_number_ = 0;
  uint64_t next_telling_ = 0;  // of the acceptor
  std::mutex mu_;
  uint64_t tick_ = 0;
  std::map<int, Connection>
      connections_;  // by the number of gRPC's descriptor; those that are over, until it is reused
  std::thread acceptor_;
};

class Stream final : public WorkerStream {
 public:
  Stream(grpc::ServerContext& context, Grpc& stream, Door& door, int number)
      : context_(context), stream_(stream), door_(door), number_(number) {}
  bool Read(std::string* bytes) override {
    grpc::ByteBuffer buffer;
    if (!stream_.Read(&buffer)) return false;
    *bytes = ToBytes(buffer);
    return true;
  }
  bool Write(const std::string& bytes) override { return stream_.Write(ToBuffer(bytes)); }
  void Close() override { context_.TryCancel(); }
  void Know() override { door_.Know(number_); }

 private:
  grpc::ServerContext& context_;
  Grpc& stream_;
  Door& door_;
  const int number_;
};

Status Door::Open(const std::string& path, bool for_all) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return {ErrorCode::kUnavailable, "the path of the socket is longer than 107 bytes: " + path};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0)
    return SocketError("cannot read the limit of open files for", path);
  first_number_ = static_cast<int>(std::min<rlim_t>(files.rlim_cur, INT_MAX) / 2);
  end_number_ = first_number_ + std::min(first_number_, kNumbersMax);
  next_number_ = first_number_;
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  stop_ = eventfd(0, EFD_CLOEXEC);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  const itimerspec ticks{.it_interval = kTick, .it_value = kTick};
  if (listener_ < 0 || stop_ < 0 || timer_ < 0 || timerfd_settime(timer_, 0, &ticks, nullptr) != 0)
    return SocketError("cannot make a socket for", path);
  // What an earlier process left; only one process uses the directory.
  unlink(path.c_str());
  const mode_t before = umask(for_all ? 0111 : 0177);
  const int bound = bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int why = errno;
  umask(before);
  errno = why;
  if (bound != 0) return SocketError("cannot bind", path);
  path_ = path;
  if (listen(listener_, kDoorBacklog) != 0) return SocketError("cannot listen at", path);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kWorkerMessageBytesMax);
  builder.SetMaxSendMessageSize(kWorkerMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnection);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  grpc::ResourceQuota quota("workers");
  quota.SetMaxThreads(kThreadsMax);
  builder.SetResourceQuota(quota);
  builder.RegisterService(&service_);
  server_ = builder.BuildAndStart();
  if (!server_) return {ErrorCode::kUnavailable, "cannot start the server for workers"};
  acceptor_ = std::thread([this] { Accept(); });
  return {};
}

Door::~Door() {
  if (acceptor_.joinable()) {
    const uint64_t one = 1;
    static_cast<void>(write(stop_, &one, sizeof(one)));
    acceptor_.join();
  }
  {
    // Whatever gRPC waits for at the other ends comes to an end with them.
    std::lock_guard lock(mu_);
    for (auto& [number, connection] : connections_) Cut(connection);
  }
  if (server_) {
    server_->Shutdown(std::chrono::system_clock::time_point());  // in the past: cancels at once
    server_->Wait();
  }
  for (const int fd : {listener_, stop_, timer_}) {
    if (fd >= 0) close(fd);
  }
  if (!path_.empty()) unlink(path_.c_str());
}

void Door::Accept() {
  while (true) {
    std::vector<pollfd> fds = {{.fd = stop_, .events = POLLIN, .revents = 0},
                               {.fd = timer_, .events = POLLIN, .revents = 0},
                               {.fd = listener_, .events = POLLIN, .revents = 0}};
    std::vector<int> numbers;
    {
      std::lock_guard lock(mu_);
      for (const auto& [number, connection] : connections_) {
        if (connection.own < 0) continue;
        fds.push_back({.fd = connection.own, .events = POLLRDHUP, .revents = 0});
        numbers.push_back(number);
      }
    }
    if (poll(fds.data(), fds.size(), -1) < 0) continue;  // interrupted
    if (fds[0].revents != 0) return;
    EndOver(fds, numbers);
    if (fds[1].revents != 0) CloseLate();
    if (fds[2].revents != 0) AcceptOne();
  }
}

void Door::AcceptOne() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) return Admit(fd);
  if (errno == EAGAIN || errno == ECONNABORTED) return;
  // Without free descriptors the connection stays in the queue, and would be tried without a pause.
  log::Warn("worker", "cannot accept a worker: {}", std::strerror(errno));
  pollfd stop{.fd = stop_, .events = POLLIN, .revents = 0};
  poll(&stop, 1, kDoorRetryMs);
}

// `fds` are those of three other descriptors, then those of the connections with these numbers.
void Door::EndOver(const std::vector<pollfd>& fds, const std::vector<int>& numbers) {
  std::lock_guard lock(mu_);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (fds[fds.size() - numbers.size() + i].revents != 0) End(connections_.at(numbers[i]));
  }
}

// Its peer is still known to a stream that has not been served yet.
void Door::End(Connection& connection) {
  if (connection.own >= 0) close(std::exchange(connection.own, -1));
}

void Door::Cut(Connection& connection) {
  if (connection.own >= 0) shutdown(connection.own, SHUT_RDWR);
  End(connection);
}

void Door::CloseLate() {
  uint64_t ticks = 0;
  if (read(timer_, &ticks, sizeof(ticks)) != sizeof(ticks)) return;
  std::lock_guard lock(mu_);
  tick_ += ticks;
  for (auto& [number, connection] : connections_) {
    if (connection.own < 0 || connection.known || tick_ - connection.since < kHelloWithinTicks)
      continue;
    Cut(connection);
  }
}

void Door::Tell(const std::string& what) {
  std::lock_guard lock(mu_);
  if (tick_ < next_telling_) return;
  next_telling_ = tick_ + kTellEveryTicks;
  log::Warn("worker", "a connection was not accepted: {}", what);
}

// -1: no number is free; errno says why.
int Door::Renumber(int fd) {
  for (const int from : {next_number_, first_number_}) {
    const int number = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (number < 0) continue;
    next_number_ = number + 1 < end_number_ ? number + 1 : first_number_;
    return number;
  }
  return -1;
}

// Empty: nothing speaks against it.
std::string Door::WhyNot(const ucred& peer) {
  if (!host_.Admits(peer.uid))
    return fmt::format("the user {} may run no application (executor.worker_users)", peer.uid);
  std::lock_guard lock(mu_);
  size_t open = 0;
  size_t strangers = 0;
  for (const auto& [number, connection] : connections_) {
    open += connection.own >= 0;
    strangers += connection.own >= 0 && !connection.known && connection.peer.uid == peer.uid;
  }
  if (strangers >= kStrangersOfUserMax)
    return fmt::format("{} others of the user {} are silent", strangers, peer.uid);
  if (open >= kConnectionsMax) return fmt::format("there are {}", open);
  return {};
}

void Door::Admit(int fd) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  std::string why = known ? WhyNot(credentials) : std::strerror(errno);
  const int number = why.empty() ? Renumber(fd) : -1;
  if (why.empty() && number < 0) why = std::strerror(errno);
  if (!why.empty()) {
    close(fd);
    return Tell(why);
  }
  {
    std::lock_guard lock(mu_);
    Connection& connection = connections_[number];
    End(connection);  // gRPC has closed the one before
    connection = {
        .peer = {.uid = credentials.uid, .pid = credentials.pid}, .own = fd, .since = tick_};
  }
  grpc::AddInsecureChannelFromFd(server_.get(), number);
}

void Door::Know(int number) {
  std::lock_guard lock(mu_);
  connections_[number].known = true;
}

grpc::Status Door::Attach(grpc::ServerContext& context, Grpc& stream) {
  // gRPC names such a peer "fd:NUMBER".
  const std::string name = context.peer();
  const size_t colon = name.rfind(':');
  int number = -1;
  if (colon != std::string::npos) {
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), number);
  }
  WorkerPeer peer;
  {
    std::lock_guard lock(mu_);
    const auto found = connections_.find(number);
    if (found == connections_.end()) {
      return {grpc::StatusCode::INTERNAL, "the connection is not known: " + name};
    }
    peer = found->second.peer;
  }
  Stream wrapped(context, stream, *this, number);
  const Status served = host_.Serve(peer, wrapped);
  {
    std::lock_guard lock(mu_);
    Connection& connection = connections_[number];
    if (std::exchange(connection.known, false)) connection.since = tick_;
  }
  if (served.ok()) return grpc::Status::OK;
  return {CodeOf(served.code()), served.error().message};
}

}  // namespace

Result<std::unique_ptr<WorkerDoor>> ListenForWorkers(const std::string& path, bool for_all,
                                                     WorkerHost& host) {
  auto door = std::make_unique<Door>(host);
  CARILLON_TRY(door->Open(path, for_all));
  return std::unique_ptr<WorkerDoor>(std::move(door));
}

}  // namespace carillon::rpc
