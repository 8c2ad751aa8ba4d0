// A fleet of simulated executors: each has a connection of its own to one member, registers and
// sends heartbeats.
//
//   bench_executors --address HOST:PORT --secret-file FILE [--executors N] [--interval-ms MS]
//   [--seconds S]
//
// Prints "registered" when all are, and then one line of JSON with the heartbeats that were
// answered in S seconds. tests/bench/executors.py starts it and measures the member.
#include <fmt/core.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <CLI/CLI.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <vector>

#include "common/adapters/grpc/link_protocol.h"
#include "common/adapters/grpc/stream_outbox.h"
#include "common/adapters/system/system_clock.h"
#include "common/wire/messages/control_codec.h"

namespace carillon {
namespace {

struct Options {
  std::string address;
  std::string secret_file;
  int executors = 10'000;
  int interval_ms = 2000;
  int seconds = 30;
};

// Counters that the threads of the fleet share.
struct Count {
  std::atomic<int> registered = 0;
  std::atomic<int> ended = 0;
  std::atomic<uint64_t> answers = 0;
};

// One executor. Never destroyed: the process ends with the measurement.
class SimulatedExecutor final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  SimulatedExecutor(int number, const Options& options, const std::string& secret, Count& count)
      : id_(fmt::format("simulated-{:05}", number)),
        count_(count),
        outbox_({.messages_max = 100, .bytes_max = 1 << 20}) {
    context_.AddMetadata(rpc::kExecutorMetadata, id_);
    context_.AddMetadata(rpc::kIncarnationMetadata, "x");
    context_.AddMetadata(rpc::kSecretMetadata, "Bearer " + secret);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, rpc::kKeepaliveMs);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     30'000);  // the fleet shares two cores with the member
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    grpc::GenericStub stub(
        grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(), arguments));
    stub.PrepareBidiStreamingCall(&context_, rpc::kAttachMethod, grpc::StubOptions(), this);
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void Beat(SteadyTime now) {
    if (!registered_) return;
    Heartbeat beat{.sent_us = now.time_since_epoch() / 1us};
    beat.load = {.cpu = 0.3, .memory = 0.5, .disk = 0.2, .io = 0.1};
    beat.free_slots = 8;
    beat.free_light_slots = 4096;
    beat.slots = 8;
    Write(beat);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    const auto message = DecodeToExecutor(rpc::ToBytes(incoming_));
    if (message.ok() && std::holds_alternative<Welcome>(*message)) Register();
    if (message.ok() && std::holds_alternative<ToExecutor>(*message))
      Take(std::get<ToExecutor>(*message));
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return;
    const std::lock_guard lock(mu_);
    if (const grpc::ByteBuffer* next = outbox_.Next()) StartWrite(next);
  }
  void OnDone(const grpc::Status&) override { ++count_.ended; }

 private:
  void Register() {
    carillon::Register message;
    message.record.host = id_ + ".example";
    message.record.slots = 8;
    message.record.version = "0.1.0";
    message.record.labels = {{"zone", "a"}, {"disk", "ssd"}};
    Write(message);
  }
  void Take(const ToExecutor& message) {
    const auto* answer = std::get_if<Registered>(&message);
    if (answer != nullptr && answer->accepted && !registered_.exchange(true)) ++count_.registered;
    if (std::holds_alternative<HeartbeatReply>(message)) ++count_.answers;
  }
  void Write(const FromExecutor& message) {
    const std::lock_guard lock(mu_);
    const auto first = outbox_.Put(EncodeFromExecutor(message));
    if (first.ok() && *first != nullptr) StartWrite(*first);
  }

  const std::string id_;
  Count& count_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  std::atomic<bool> registered_ = false;
  std::mutex mu_;
  rpc::StreamOutbox outbox_;
};

class Fleet {
 public:
  explicit Fleet(const Options& options) : options_(options) {}

  // Connects all, 500 a second: a fleet does not arrive at once.
  bool Connect(const std::string& secret) {
    for (int i = 0; i < options_.executors; ++i) {
      executors_.push_back(std::make_unique<SimulatedExecutor>(i, options_, secret, count_));
      Pause(2ms);
    }
    for (int i = 0; i < 6000 && count_.registered < options_.executors; ++i) {
      Beats(10ms);
      if (i % 500 == 499)
        fmt::print(stderr, "{} of {}\n", count_.registered.load(), options_.executors);
    }
    return count_.registered == options_.executors;
  }

  // Beats for `seconds`, and prints what was answered.
  void Measure() {
    const uint64_t before = count_.answers;
    const SteadyTime begin = clock_.Steady();
    Beats(std::chrono::seconds(options_.seconds));
    const std::chrono::duration<double> took = clock_.Steady() - begin;
    fmt::print("{{\"executors\": {}, \"answers_per_s\": {:.0f}, \"ended\": {}}}\n",
               options_.executors, static_cast<double>(count_.answers - before) / took.count(),
               count_.ended.load());
    std::fflush(stdout);
  }

 private:
  // Sends the heartbeats that are due, evenly over the interval, for `span`.
  void Beats(Duration span) {
    const SteadyTime end = clock_.Steady() + span;
    const Duration each = std::chrono::milliseconds(options_.interval_ms) / options_.executors;
    for (SteadyTime now = clock_.Steady(); now < end; now = clock_.Steady()) {
      if (next_ == SteadyTime{}) next_ = now;
      for (; next_ <= now; next_ += each) {
        executors_[turn_++ % executors_.size()]->Beat(now);
      }
      Pause(1ms);
    }
  }
  void Pause(Duration span) {
    std::unique_lock lock(mu_);
    never_.wait_for(lock, span);
  }

  const Options options_;
  const SystemClock clock_;
  Count count_;
  std::vector<std::unique_ptr<SimulatedExecutor>> executors_;
  size_t turn_ = 0;
  SteadyTime next_{};
  std::mutex mu_;
  std::condition_variable never_;
};

}  // namespace
}  // namespace carillon

int main(int argc, char** argv) {
  carillon::Options options;
  CLI::App app("A fleet of simulated executors");
  app.add_option("--address", options.address)->required();
  app.add_option("--secret-file", options.secret_file)->required();
  app.add_option("--executors", options.executors);
  app.add_option("--interval-ms", options.interval_ms);
  app.add_option("--seconds", options.seconds);
  CLI11_PARSE(app, argc, argv);
  std::string secret;
  std::getline(std::ifstream(options.secret_file) >> std::ws, secret);
  carillon::Fleet fleet(options);
  if (!fleet.Connect(secret)) {
    fmt::print(stderr, "not all executors were registered\n");
    return 1;
  }
  fmt::print("registered\n");
  std::fflush(stdout);
  fleet.Measure();
  std::_Exit(0);  // without the farewell of thousands of channels
}
