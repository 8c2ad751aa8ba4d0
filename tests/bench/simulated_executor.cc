#include "tests/bench/simulated_executor.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "common/adapters/grpc/link_credentials.h"
#include "common/adapters/grpc/link_protocol.h"
#include "common/wire/messages/control_codec.h"

namespace carillon::bench {
namespace {

constexpr Duration kIdle = 1h;

}  // namespace

// One call; kept alive by gRPC until OnDone.
class SimulatedExecutor::Stream final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(SimulatedExecutor& executor)
      : executor_(executor), outbox_({.messages_max = 100, .bytes_max = 1 << 20}) {}

  void Begin(const FleetOptions& options, const std::string& id, const tls::Identity& identity) {
    self_ = shared_from_this();
    context_.AddMetadata(rpc::kExecutorMetadata, id);
    context_.AddMetadata(rpc::kIncarnationMetadata, "x");
    if (identity.empty()) context_.AddMetadata(rpc::kSecretMetadata, "Bearer " + options.secret);
    grpc::ChannelArguments arguments = rpc::LinkArguments();
    // The fleet shares two cores with the member.
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 30'000);
    const auto credentials = rpc::ChannelCredentials(identity, options.member, arguments);
    grpc::GenericStub stub(grpc::CreateCustomChannel(options.address, credentials, arguments));
    stub.PrepareBidiStreamingCall(&context_, rpc::kAttachMethod, grpc::StubOptions(), this);
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }
  void Send(const FromExecutor& message) {
    const std::lock_guard lock(mu_);
    if (closed_) return;
    const auto first = outbox_.Put(EncodeFromExecutor(message));
    if (first.ok() && *first != nullptr) StartWrite(*first);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Close();
    const auto message = DecodeToExecutor(rpc::ToBytes(incoming_));
    if (!message.ok()) return Close();
    if (std::holds_alternative<Welcome>(*message)) executor_.Attached();
    if (const auto* sent = std::get_if<ToExecutor>(&*message)) executor_.Take(*sent);
    const std::lock_guard lock(mu_);
    if (!closed_) StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Close();
    const std::lock_guard lock(mu_);
    const grpc::ByteBuffer* next = outbox_.Next();
    if (next != nullptr && !closed_) StartWrite(next);
  }
  void OnDone(const grpc::Status&) override {
    const std::shared_ptr<Stream> self = std::move(self_);
    executor_.Ended(this);
  }

 private:
  void Close() {
    {
      const std::lock_guard lock(mu_);
      if (std::exchange(closed_, true)) return;
    }
    context_.TryCancel();
    RemoveHold();
  }

  SimulatedExecutor& executor_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  std::shared_ptr<Stream> self_;
  std::mutex mu_;
  rpc::StreamOutbox outbox_;
  bool closed_ = false;
};

std::string SimulatedExecutor::IdOf(int number) { return fmt::format("simulated-{:05}", number); }

SimulatedExecutor::SimulatedExecutor(int number, bool holds, tls::Identity identity,
                                     const FleetOptions& options, const Clock& clock,
                                     FleetCount& count, std::function<void()> wake)
    : id_(IdOf(number)),
      holds_(holds),
      identity_(std::move(identity)),
      options_(options),
      clock_(clock),
      count_(count),
      wake_(std::move(wake)),
      rng_(static_cast<uint64_t>(number) + 1) {}

SimulatedExecutor::~SimulatedExecutor() = default;

SteadyTime SimulatedExecutor::Act(SteadyTime now) {
  std::vector<std::shared_ptr<Stream>> ended;
  const std::lock_guard lock(mu_);
  ended.swap(ended_);
  if (!stream_) {
    if (now < dial_at_) return dial_at_;
    Dial();
    return now + kIdle;
  }
  if (!attached_) return now + kIdle;
  if (!registered_) {
    if (now >= register_at_) Register(now);
    return register_at_;
  }
  if (now >= beat_at_) Beat(now);
  return beat_at_;
}

void SimulatedExecutor::Dial() {
  stream_ = std::make_shared<Stream>(*this);
  stream_->Begin(options_, id_, identity_);
}

void SimulatedExecutor::Register(SteadyTime now) {
  register_at_ = now + register_again_.Next(rng_);
  carillon::Register message;
  message.record.host = id_ + ".example";
  message.record.slots = 8;
  message.record.version = "0.1.0";
  message.record.labels = {{"zone", "a"}, {"disk", "ssd"}};
  ++count_.registrations;
  stream_->Send(message);
}

// The second heartbeat has nothing new to tell.
void SimulatedExecutor::Beat(SteadyTime now) {
  const bool quiet = !holds_ && beats_++ > 0;
  Heartbeat beat{.sent_us = now.time_since_epoch() / 1us};
  beat.load = {.cpu = 0.3, .memory = 0.5, .disk = 0.2, .io = 0.1};
  beat.running_count = holds_ ? 1 : 0;
  beat.free_slots = holds_ ? 7 : 8;
  beat.free_light_slots = 4096;
  beat.slots = 8;
  beat.next_in = options_.interval > Duration{} ? options_.interval : quiet ? quiet_ : usual_;
  beat_at_ = now + beat.next_in;
  stream_->Send(beat);
}

void SimulatedExecutor::SetRegistered(bool registered) {
  if (registered_ == registered) return;
  registered_ = registered;
  count_.registered += registered ? 1 : -1;
  if (holds_) count_.holders += registered ? 1 : -1;
}

void SimulatedExecutor::Attached() {
  {
    const std::lock_guard lock(mu_);
    if (!std::exchange(attached_, true)) ++count_.attached;
    dial_again_.Reset();
    register_at_ = {};
  }
  wake_();
}

void SimulatedExecutor::Take(const ToExecutor& message) {
  {
    const std::lock_guard lock(mu_);
    if (const auto* standing = std::get_if<Registered>(&message)) {
      if (!standing->accepted) return;
      if (standing->heartbeat > Duration{}) usual_ = standing->heartbeat;
      quiet_ = std::max(usual_, standing->quiet_heartbeat);
      register_again_.Reset();
      beats_ = 0;
      beat_at_ = {};
      SetRegistered(true);
    } else if (const auto* reply = std::get_if<HeartbeatReply>(&message)) {
      ++count_.answers;
      if (reply->registered) return;
      SetRegistered(false);
      register_at_ = {};
    } else {
      return;
    }
  }
  wake_();
}

void SimulatedExecutor::Ended(Stream* stream) {
  {
    const std::lock_guard lock(mu_);
    if (stream_.get() != stream) return;
    ++count_.ended;
    if (std::exchange(attached_, false)) --count_.attached;
    SetRegistered(false);
    const bool may_wait = !holds_ && quiet_ > usual_;
    const Duration calm =
        may_wait ? Duration(rng_.Below(static_cast<uint64_t>(quiet_.count()))) : Duration{};
    dial_at_ = clock_.Steady() + std::max(calm, dial_again_.Next(rng_));
    ended_.push_back(std::move(stream_));
  }
  wake_();
}

}  // namespace carillon::bench
