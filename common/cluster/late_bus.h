// A producer and consumers that exist before the brokers are available, and the loop that opens
// their connections.
//
// Place    Composition roots of a cluster's daemons. Leases and claims need no broker, so a daemon
//          must start even while the brokers are unavailable.
// Threads  One loop calls Step; the producer and the consumers are as thread-safe as Kafka's.
// Errors   Until the topics have been checked, Send returns kUnavailable and Poll returns nothing.
//          An earlier Send could make a broker create a topic with the wrong partitions.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/ports/message_bus.h"

namespace carillon::cluster {

class LateProducer final : public BusProducer {
 public:
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override;
  void Set(std::unique_ptr<BusProducer> opened);

 private:
  std::unique_ptr<BusProducer> opened_;
  std::atomic<BusProducer*> ready_ = nullptr;
};

class LateConsumer final : public BusConsumer {
 public:
  Result<std::vector<ReceivedRecord>> Poll(size_t max) override;
  Status Commit(const std::vector<ReceivedRecord>& handled) override;
  void OnReadable(std::function<void()> wake) override;
  BusHealth Look() override;
  void Set(std::unique_ptr<BusConsumer> opened);
  // Records that no broker answered when the bus tried to open this consumer.
  void Missed() { missed_ = true; }

 private:
  std::unique_ptr<BusConsumer> opened_;
  std::atomic<BusConsumer*> ready_ = nullptr;
  std::atomic<bool> missed_ = false;
  Mutex mu_;
  std::function<void()> wake_ GUARDED_BY(mu_);
};

class LateBus final : public Stepper {
 public:
  using OpenConsumer = std::function<Result<std::unique_ptr<BusConsumer>>()>;
  struct Ports {
    // Checks that the topics are as required, within `limit`; kUnavailable: no answer.
    std::function<Status(Duration limit)> check_topics;
    std::function<Result<std::unique_ptr<BusProducer>>()> open_producer;
    // False: the daemon goes on without this bus, so the tries never end.
    bool required = true;
  };
  explicit LateBus(Ports ports) : ports_(std::move(ports)) {}

  BusProducer& producer() { return producer_; }
  // Call before Open; the reference is valid as long as the bus.
  BusConsumer& AddConsumer(OpenConsumer open);

  // Tries to open everything once, at startup. Waits only briefly (the limit is in late_bus.cc).
  // Unavailable brokers are not an error.
  Status Open();
  SteadyTime Step(SteadyTime now) override;
  // Thread-safe. Returns an error if the daemon cannot continue, e.g. because topics are wrong.
  // Always ok if the bus is not required.
  Status failure() const;
  bool opened() const { return opened_; }

 private:
  struct Late {
    OpenConsumer open;
    LateConsumer consumer;
    bool opened = false;
  };
  Status Try(Duration limit);
  Status OpenAll(Duration limit);

  const Ports ports_;
  LateProducer producer_;
  std::vector<std::unique_ptr<Late>> consumers_;
  bool producer_opened_ = false;
  std::atomic<bool> opened_ = false;
  // Consecutive tries that failed although a broker answered, e.g. because topics are wrong.
  int misfits_ = 0;
  mutable Mutex mu_;
  Status failure_ GUARDED_BY(mu_);
};

}  // namespace carillon::cluster
