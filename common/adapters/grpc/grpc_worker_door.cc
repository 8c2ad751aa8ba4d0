#include "common/adapters/grpc/grpc_worker_door.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

#include "common/adapters/grpc/grpc_include.h"
#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/log.h"

namespace carillon::rpc {
namespace {

constexpr const char* kWorkerMethod = "/carillon.worker.v1.WorkerService/Attach";
constexpr int kWorkerMessageBytesMax = 16 << 20;
constexpr int kBacklog = 128;
// The numbers of accepted descriptors come from the upper half of those that the process may have, at most this many, in
// turn. So a number is used again only after many others, and a stream of a connection that has ended is not taken for
// one of a later connection.
constexpr int kNumbersMax = 4000;
constexpr int kRetryAcceptMs = 100;

using Grpc = grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

class Stream final : public WorkerStream {
 public:
  Stream(grpc::ServerContext& context, Grpc& stream) : context_(context), stream_(stream) {}
  bool Read(std::string* bytes) override {
    grpc::ByteBuffer buffer;
    if (!stream_.Read(&buffer)) return false;
    *bytes = ToBytes(buffer);
    return true;
  }
  bool Write(const std::string& bytes) override { return stream_.Write(ToBuffer(bytes)); }
  void Close() override { context_.TryCancel(); }

 private:
  grpc::ServerContext& context_;
  Grpc& stream_;
};

grpc::StatusCode CodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::kDenied: return grpc::StatusCode::PERMISSION_DENIED;
    case ErrorCode::kConflict: return grpc::StatusCode::FAILED_PRECONDITION;
    case ErrorCode::kExhausted: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    default: return grpc::StatusCode::UNAVAILABLE;
  }
}

Error Failed(const std::string& what, const std::string& path) {
  return {ErrorCode::kUnavailable, what + " " + path + ": " + std::strerror(errno)};
}

class Door final : public WorkerDoor {
 public:
  explicit Door(WorkerServe serve) : serve_(std::move(serve)), service_(*this) {}
  ~Door() override;
  Status Open(const std::string& path, bool for_all);
  grpc::Status Attach(grpc::ServerContext& context, Grpc& stream);

 private:
  class Service final : public grpc::Service {
   public:
    explicit Service(Door& door) {
      using Handler = grpc::internal::BidiStreamingHandler<Door, grpc::ByteBuffer, grpc::ByteBuffer>;
      AddMethod(new grpc::internal::RpcServiceMethod(
          kWorkerMethod, grpc::internal::RpcMethod::BIDI_STREAMING,
          new Handler([](Door* self, grpc::ServerContext* context,
                         Grpc* stream) { return self->Attach(*context, *stream); },
                      &door)));
    }
  };

  void Accept();
  void Admit(int fd);
  int Renumber(int fd);

  const WorkerServe serve_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::string path_;
  int listener_ = -1;
  int stop_ = -1;
  int first_number_ = 0;
  int end_number_ = 0;
  int next_number_ = 0;
  std::mutex mu_;
  std::map<int, WorkerPeer> peers_;  // by the number of the descriptor
  std::thread acceptor_;
};

Status Door::Open(const std::string& path, bool for_all) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return {ErrorCode::kUnavailable, "the path of the socket is longer than 107 bytes: " + path};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return Failed("cannot read the limit of open files for", path);
  first_number_ = static_cast<int>(std::min<rlim_t>(files.rlim_cur, INT_MAX) / 2);
  end_number_ = first_number_ + std::min(first_number_, kNumbersMax);
  next_number_ = first_number_;
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (listener_ < 0 || stop_ < 0) return Failed("cannot make a socket for", path);
  // What an earlier process left; only one process uses the directory.
  unlink(path.c_str());
  const mode_t before = umask(for_all ? 0111 : 0177);
  const int bound = bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int why = errno;
  umask(before);
  errno = why;
  if (bound != 0) return Failed("cannot bind", path);
  path_ = path;
  if (listen(listener_, kBacklog) != 0) return Failed("cannot listen at", path);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kWorkerMessageBytesMax);
  builder.SetMaxSendMessageSize(kWorkerMessageBytesMax);
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
  if (server_) {
    server_->Shutdown(std::chrono::system_clock::time_point());  // in the past: cancels at once
    server_->Wait();
  }
  if (listener_ >= 0) close(listener_);
  if (stop_ >= 0) close(stop_);
  if (!path_.empty()) unlink(path_.c_str());
}

void Door::Accept() {
  while (true) {
    pollfd fds[2] = {{.fd = listener_, .events = POLLIN, .revents = 0},
                     {.fd = stop_, .events = POLLIN, .revents = 0}};
    if (poll(fds, 2, -1) < 0) continue;  // interrupted
    if (fds[1].revents != 0) return;
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      Admit(fd);
    } else if (errno != EAGAIN && errno != ECONNABORTED) {
      // Without free descriptors the connection stays in the queue, and would be tried without a pause.
      log::Warn("worker", "cannot accept a worker: {}", std::strerror(errno));
      poll(&fds[1], 1, kRetryAcceptMs);
    }
  }
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

void Door::Admit(int fd) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  const int number = known ? Renumber(fd) : -1;
  if (number < 0) log::Warn("worker", "a connection was not accepted: {}", std::strerror(errno));
  close(fd);
  if (number < 0) return;
  {
    std::lock_guard lock(mu_);
    peers_[number] = {.uid = credentials.uid, .pid = credentials.pid};
  }
  grpc::AddInsecureChannelFromFd(server_.get(), number);
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
    const auto found = peers_.find(number);
    if (found == peers_.end()) {
      return {grpc::StatusCode::INTERNAL, "the connection is not known: " + name};
    }
    peer = found->second;
  }
  Stream wrapped(context, stream);
  const Status served = serve_(peer, wrapped);
  if (served.ok()) return grpc::Status::OK;
  return {CodeOf(served.code()), served.error().message};
}

}  // namespace

Result<std::unique_ptr<WorkerDoor>> ListenForWorkers(const std::string& path, bool for_all, WorkerServe serve) {
  auto door = std::make_unique<Door>(std::move(serve));
  CARILLON_TRY(door->Open(path, for_all));
  return std::unique_ptr<WorkerDoor>(std::move(door));
}

}  // namespace carillon::rpc
