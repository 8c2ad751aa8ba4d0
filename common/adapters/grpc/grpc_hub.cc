#include "common/adapters/grpc/grpc_hub.h"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>

#include "common/adapters/grpc/join_calls.h"
#include "common/adapters/grpc/link_acceptor.h"
#include "common/adapters/grpc/link_credentials.h"
#include "common/adapters/grpc/link_protocol.h"
#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/log.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/wire/messages/control_codec.h"
#include "common/wire/messages/link_pieces.h"

namespace carillon::rpc {
namespace {

class HubStream;
using Peer = ExecutorProcess;

// For TLS and the first frame of HTTP/2; gRPC waits for two minutes by itself.
constexpr int kHandshakeMs = 5000;
// After this long without a call a connection is closed. An executor always has one.
constexpr int kIdleMs = 30'000;

// The streams and their received messages. Outlives every stream, because the server's shutdown
// waits for the streams.
class Switchboard {
 public:
  explicit Switchboard(const HubOptions& options) : options_(options) {}

  void Add(const Peer& peer, HubStream* stream);
  void Remove(const Peer& peer, HubStream* stream);
  Status Send(const Peer& peer, const std::string& bytes, OutboxLane lane);
  // Accepts the message. Returns false if the inbox is full now. The stream must then wait: it is
  // read again once there is room.
  bool Take(ExecutorMessage message, size_t bytes, HubStream* stream);
  std::vector<ExecutorMessage> Receive(size_t max);
  std::vector<ExecutorProcess> TakeEnded();
  void Close(const Peer& peer);
  void OnReadable(std::function<void()> wake) {
    MutexLock lock(mu_);
    wake_ = std::move(wake);
  }
  const HubOptions& options() const { return options_; }
  // Null until the hub listens.
  void SetAcceptor(LinkAcceptor* acceptor) { acceptor_ = acceptor; }
  LinkAcceptor* acceptor() const { return acceptor_; }

 private:
  bool HasRoom() const REQUIRES(mu_) {
    return inbox_.size() < options_.inbox_max && inbox_bytes_ < options_.queue_bytes_max;
  }

  const HubOptions options_;
  LinkAcceptor* acceptor_ = nullptr;  // set before the first connection
  Mutex mu_;
  std::map<Peer, HubStream*> streams_ GUARDED_BY(mu_);
  std::set<HubStream*> paused_ GUARDED_BY(mu_);
  std::set<Peer> ended_ GUARDED_BY(mu_);  // for TakeEnded
  // Each message with its size in bytes.
  std::deque<std::pair<ExecutorMessage, size_t>> inbox_ GUARDED_BY(mu_);
  size_t inbox_bytes_ GUARDED_BY(mu_) = 0;
  std::function<void()> wake_ GUARDED_BY(mu_);
};

// One executor's stream. gRPC owns it from CreateReactor until OnDone.
class HubStream final : public grpc::ServerGenericBidiReactor {
 public:
  // `connection` is gRPC's name of it.
  HubStream(Switchboard& board, Peer peer, std::string connection, bool takes_pieces)
      : board_(board),
        peer_(std::move(peer)),
        connection_(std::move(connection)),
        outbox_({.messages_max = board.options().outbox_max,
                 .bytes_max = board.options().queue_bytes_max}) {
    if (takes_pieces) outbox_.CutBulk();
    // Sent before Add, because other threads can send after Add, and the first message must
    // identify the member.
    const Status welcomed = Send(EncodeWelcome({.member = board.options().member,
                                                .public_key = board.options().public_key,
                                                .takes_pieces = true}));
    if (!welcomed.ok()) log::Warn("link", "{}", welcomed.error().message);
    board_.acceptor()->Know(connection_);
    board_.Add(peer_, this);
    StartRead(&incoming_);
  }

  Status Send(const std::string& bytes, OutboxLane lane = OutboxLane::kControl) {
    MutexLock lock(mu_);
    if (closed_) return {ErrorCode::kUnavailable, "control link: the stream has ended"};
    CARILLON_ASSIGN_OR_RETURN(const grpc::ByteBuffer* first, outbox_.Put(bytes, lane));
    if (first != nullptr) StartWrite(first);
    return {};
  }
  void Close(const grpc::Status& status) {
    MutexLock lock(mu_);
    if (closed_) return;
    closed_ = true;
    Finish(status);
  }
  void ReadOn() {
    MutexLock lock(mu_);
    if (!closed_) StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Close(grpc::Status::OK);
    auto whole = pieces_.Take(ToBytes(incoming_));
    if (!whole.ok()) return Unreadable(whole.error());
    if (!*whole) return ReadOn();
    const size_t bytes = (*whole)->size();
    auto message = DecodeFromExecutor(**whole, peer_.executor, peer_.incarnation);
    if (!message.ok()) return Unreadable(message.error());
    if (board_.Take({peer_.executor, peer_.incarnation, std::move(message).value()}, bytes, this)) {
      ReadOn();
    }
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Close(grpc::Status::OK);
    MutexLock lock(mu_);
    const grpc::ByteBuffer* next = outbox_.Next();
    if (next != nullptr && !closed_) StartWrite(next);
  }
  void OnCancel() override { Close(grpc::Status::CANCELLED); }
  void OnDone() override {
    board_.Remove(peer_, this);
    board_.acceptor()->Forget(connection_);
    delete this;
  }

 private:
  void Unreadable(const Error& error) {
    log::Warn("link", "executor={}: {}", peer_.executor.value(), error.message);
    Close({grpc::StatusCode::INVALID_ARGUMENT, "unreadable message"});
  }

  Switchboard& board_;
  const Peer peer_;
  const std::string connection_;
  grpc::ByteBuffer incoming_;
  PieceJoiner pieces_;
  Mutex mu_;
  StreamOutbox outbox_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

// Replaces an older stream of the same process. The network did not report that stream's end.
void Switchboard::Add(const Peer& peer, HubStream* stream) {
  MutexLock lock(mu_);
  HubStream*& known = streams_[peer];
  if (known != nullptr) known->Close({grpc::StatusCode::ABORTED, "replaced by a newer stream"});
  known = stream;
  ended_.erase(peer);
}

void Switchboard::Remove(const Peer& peer, HubStream* stream) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    paused_.erase(stream);
    const auto found = streams_.find(peer);
    if (found == streams_.end() || found->second != stream) return;
    streams_.erase(found);
    ended_.insert(peer);
    wake = wake_;
  }
  if (wake) wake();
}

std::vector<ExecutorProcess> Switchboard::TakeEnded() {
  MutexLock lock(mu_);
  if (!inbox_.empty()) return {};
  const std::set<Peer> ended = std::exchange(ended_, {});
  return {ended.begin(), ended.end()};
}

void Switchboard::Close(const Peer& peer) {
  MutexLock lock(mu_);
  const auto found = streams_.find(peer);
  if (found != streams_.end()) found->second->Close({grpc::StatusCode::ABORTED, "given up"});
}

Status Switchboard::Send(const Peer& peer, const std::string& bytes, OutboxLane lane) {
  MutexLock lock(mu_);
  const auto found = streams_.find(peer);
  if (found == streams_.end()) {
    return {ErrorCode::kUnavailable, "control link: no stream from " + peer.executor.value()};
  }
  Status sent = found->second->Send(bytes, lane);
  if (sent.code() == ErrorCode::kExhausted && options_.metrics != nullptr) {
    options_.metrics->counter("carillon_queue_rejections_total", "link").Add();
  }
  return sent;
}

bool Switchboard::Take(ExecutorMessage message, size_t bytes, HubStream* stream) {
  std::function<void()> wake;
  bool room = true;
  {
    MutexLock lock(mu_);
    inbox_.emplace_back(std::move(message), bytes);
    inbox_bytes_ += bytes;
    room = HasRoom();
    if (!room) paused_.insert(stream);
    wake = wake_;
  }
  if (wake) wake();
  return room;
}

std::vector<ExecutorMessage> Switchboard::Receive(size_t max) {
  MutexLock lock(mu_);
  std::vector<ExecutorMessage> taken;
  while (!inbox_.empty() && taken.size() < max) {
    taken.push_back(std::move(inbox_.front().first));
    inbox_bytes_ -= inbox_.front().second;
    inbox_.pop_front();
  }
  if (HasRoom()) {
    for (HubStream* stream : paused_) stream->ReadOn();
    paused_.clear();
  }
  return taken;
}

bool HasCheckpoint(const ClaimBatchReply::Item& item) { return item.checkpoint.has_value(); }

OutboxLane LaneOf(const ToExecutor& message) {
  if (std::holds_alternative<CarriedRecord>(message)) return OutboxLane::kRecords;
  const auto* reply = std::get_if<ClaimBatchReply>(&message);
  const bool bulk =
      reply != nullptr && std::any_of(reply->items.begin(), reply->items.end(), HasCheckpoint);
  return bulk ? OutboxLane::kBulk : OutboxLane::kControl;
}

// A call that is answered with an error only.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

class Service final : public grpc::CallbackGenericService {
 public:
  Service(Switchboard& board, const Clock& clock)
      : board_(board), joins_(board.options().join, clock, board.options().join_patience, [this] {
          CountRefusal("slow");
        }) {}

  // Call Stop before the shutdown of the server, because the shutdown waits for every call.
  void Stop() { joins_.Stop(); }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* call) override {
    const bool joins = call->method() == kJoinMethod && board_.options().join;
    if (call->method() != kAttachMethod && !joins) {
      return new Refusal({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
    }
    const auto text = [call](const char* name) {
      const auto found = call->client_metadata().find(name);
      return found == call->client_metadata().end()
                 ? std::string()
                 : std::string(found->second.data(), found->second.size());
    };
    if (joins) {
      return Join({.executor = ExecutorId(text(kExecutorMetadata)), .token = text(kSecretMetadata)},
                  CertifiedName(*call->auth_context()));
    }
    const bool tls = !board_.options().identity.empty();
    if (!tls && !SameSecret(text(kSecretMetadata), "Bearer " + board_.options().join_secret)) {
      log::Warn("link", "refused a stream without the join secret from {}", call->peer());
      return Refuse("join_secret", {grpc::StatusCode::UNAUTHENTICATED, "wrong join secret"});
    }
    Peer peer{ExecutorId(text(kExecutorMetadata)), Incarnation(text(kIncarnationMetadata))};
    if (!IsIdentity(peer.executor.value()) || !IsIdentity(peer.incarnation.value())) {
      return Refuse("name", {grpc::StatusCode::INVALID_ARGUMENT, "executor or incarnation"});
    }
    const std::string shown = CertifiedName(*call->auth_context());
    if (tls && shown != peer.executor.value()) {
      log::Warn("link", "refused executor={} from {}: its certificate is for '{}'",
                peer.executor.value(), call->peer(), shown);
      return Refuse("certificate",
                    {grpc::StatusCode::UNAUTHENTICATED, "no certificate for this executor"});
    }
    return new HubStream(board_, std::move(peer), call->peer(), text(kPiecesMetadata) == "1");
  }

  void CountRefusal(const char* reason) {
    Metrics* const metrics = board_.options().metrics;
    if (metrics != nullptr) metrics->counter("carillon_link_refused_total", reason).Add();
  }

 private:
  // `shown` is the name in the caller's certificate; empty without one.
  grpc::ServerGenericBidiReactor* Join(JoinRequest who, const std::string& shown) {
    constexpr std::string_view kBearer = "Bearer ";
    const bool has_token = who.token.starts_with(kBearer);
    if (has_token) who.token.erase(0, kBearer.size());
    if (!IsIdentity(who.executor.value()) || (has_token && who.token.empty())) {
      return Refuse("name", {grpc::StatusCode::INVALID_ARGUMENT, "executor or token"});
    }
    if (!has_token && shown != who.executor.value()) {
      return Refuse("certificate", {grpc::StatusCode::UNAUTHENTICATED,
                                    "neither a join token nor a certificate for this executor"});
    }
    return joins_.Take(who);
  }

  Refusal* Refuse(const char* reason, const grpc::Status& status) {
    CountRefusal(reason);
    return new Refusal(status);
  }

  Switchboard& board_;
  JoinCalls joins_;
};

class Hub final : public GrpcHub, LinkAcceptor::Taker {
 public:
  Hub(const HubOptions& options, const Clock& clock) : board_(options), service_(board_, clock) {}
  ~Hub() override {
    if (acceptor_) acceptor_->Stop();
    service_.Stop();
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::time_point());  // in the past: cancels at once
    server_->Wait();  // no stream speaks of its connection after that
  }

  Status Listen() {
    const HubOptions& options = board_.options();
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(kMessageBytesMax);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfAPeerMax);
    // Each ping costs as much as a heartbeat: the member sends none, and gives up silent executors.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingLeastMs);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
    using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    connections_ = builder.experimental().AddExternalConnectionAcceptor(
        Type::FROM_FD, ServerCredentials(options.identity));
    builder.RegisterCallbackGenericService(&service_);
    CARILLON_ASSIGN_OR_RETURN(acceptor_,
                              LinkAcceptor::Listen({.address = options.address,
                                                    .port = options.port,
                                                    .strangers_max = options.strangers_max},
                                                   *this));
    server_ = builder.BuildAndStart();
    if (!server_) return {ErrorCode::kUnavailable, "control link: cannot start the server"};
    board_.SetAcceptor(acceptor_.get());
    acceptor_->Start();
    return {};
  }

  std::string endpoint() const override {
    return board_.options().address + ":" + std::to_string(acceptor_->port());
  }
  Status Send(const ExecutorId& executor, const Incarnation& incarnation,
              ToExecutor message) override {
    return board_.Send({executor, incarnation}, EncodeToExecutor(message), LaneOf(message));
  }
  std::vector<ExecutorMessage> Receive(size_t max) override { return board_.Receive(max); }
  std::vector<ExecutorProcess> TakeEnded() override { return board_.TakeEnded(); }
  void Close(const ExecutorProcess& process) override { board_.Close(process); }
  void OnReadable(std::function<void()> wake) override { board_.OnReadable(std::move(wake)); }

 private:
  void Take(int fd) override {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    connections_->HandleNewConnection(&connection);
  }
  void Refused() override { service_.CountRefusal("connections"); }

  Switchboard board_;
  Service service_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<LinkAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
};

bool IsLoopback(const std::string& address) {
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) != 1) return address == "localhost";
  return (ntohl(v4.s_addr) >> 24) == 127;
}

}  // namespace

Result<std::unique_ptr<GrpcHub>> GrpcHub::Start(const HubOptions& options, const Clock& clock) {
  const bool tls = !options.identity.empty();
  if (options.join_secret.empty() && !tls) {
    return Error{ErrorCode::kInvalid, "control link: the join secret is empty"};
  }
  if (tls) CARILLON_TRY(tls::CheckPair(options.identity.certificate, options.identity.key));
  if (!options.allow_beyond_loopback && !tls && !IsLoopback(options.address)) {
    return Error{ErrorCode::kInvalid,
                 "control link: " + options.address + " is beyond loopback and there is no TLS"};
  }
  auto hub = std::make_unique<Hub>(options, clock);
  CARILLON_TRY(hub->Listen());
  return std::unique_ptr<GrpcHub>(std::move(hub));
}

}  // namespace carillon::rpc
