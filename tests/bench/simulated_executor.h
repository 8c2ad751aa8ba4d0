// An executor without work, for measurements of a member: it has a connection of its own,
// registers, sends heartbeats as the member asks, and comes back after the end of a stream.
//
// Threads  Act is called by one thread; gRPC's threads deliver what the member sends.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/adapters/grpc/stream_outbox.h"
#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/ports/executor_link.h"
#include "common/tls/certificates.h"

namespace carillon::bench {

// Counters that the executors of a fleet share.
struct FleetCount {
  std::atomic<int> attached = 0;
  std::atomic<int> registered = 0;
  std::atomic<int> holders = 0;             // registered ones that hold something
  std::atomic<int> ended = 0;               // streams, since the start
  std::atomic<uint64_t> registrations = 0;  // sent, since the start
  std::atomic<uint64_t> answers = 0;        // to heartbeats, since the start
};

struct FleetOptions {
  std::string address;
  std::string member;      // its name in the certificate
  std::string secret;      // without TLS
  Duration interval = {};  // of heartbeats; zero: as the member asks
};

class SimulatedExecutor {
 public:
  // `wake` asks for a call of Act. One that `holds` something is never quiet, and dials at once.
  // `identity` is empty without TLS.
  SimulatedExecutor(int number, bool holds, tls::Identity identity, const FleetOptions& options,
                    const Clock& clock, FleetCount& count, std::function<void()> wake);
  ~SimulatedExecutor();

  static std::string IdOf(int number);

  // Does what is due. Returns when it is to be called again.
  SteadyTime Act(SteadyTime now);

 private:
  class Stream;

  void Take(const ToExecutor& message);
  void Attached();
  void Ended(Stream* stream);
  void Dial();
  void Register(SteadyTime now);
  void Beat(SteadyTime now);
  void SetRegistered(bool registered);

  const std::string id_;
  const bool holds_;
  const tls::Identity identity_;
  const FleetOptions& options_;
  const Clock& clock_;
  FleetCount& count_;
  const std::function<void()> wake_;
  std::mutex mu_;
  Rng rng_;
  std::shared_ptr<Stream> stream_;              // null: none
  std::vector<std::shared_ptr<Stream>> ended_;  // destroyed by Act
  bool attached_ = false;
  bool registered_ = false;
  Duration usual_ = 2s;
  Duration quiet_ = 2s;
  int beats_ = 0;  // since the registration
  Backoff dial_again_{{.first = 50ms, .longest = 2s}};
  Backoff register_again_{{.first = 1s, .longest = 4s}};
  SteadyTime dial_at_{};
  SteadyTime register_at_{};
  SteadyTime beat_at_{};
};

}  // namespace carillon::bench
