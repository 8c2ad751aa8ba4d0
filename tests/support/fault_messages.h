// Bus and control link of one process, behind a faulty network.
//
// Place    Between a process and the memory adapters, in the simulator.
// Threads  Not thread-safe; the simulator's one thread.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "common/ports/executor_link.h"
#include "common/ports/message_bus.h"
#include "tests/support/fault_network.h"

namespace carillon::test {

inline constexpr const char* kBusNode = "bus";

// `alive` becomes false when the process is killed in the middle of a step. After that
// it sends nothing.
struct NodePorts {
  FaultNetwork& network;
  std::string node;
  const bool& alive;
};

class FaultProducer final : public BusProducer {
 public:
  // `sending` is called with the topic of each record before it is passed to the network.
  FaultProducer(
      NodePorts ports, std::shared_ptr<BusProducer> inner,
      std::function<void(std::string_view topic)> sending = [](std::string_view) {})
      : ports_(std::move(ports)), inner_(std::move(inner)), sending_(std::move(sending)) {}
  // The answer of the bus comes back through the network, too, and not to a dead process.
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override {
    if (!ports_.alive) return {};
    sending_(topic);
    ports_.network.Send(ports_.node, kBusNode,
                        [inner = inner_, topic = std::string(topic), partition_key,
                         record = std::move(record), told = ToldOnce(std::move(delivered))] {
                          // A record for a full topic partition is lost silently, as after a
                          // timeout of the broker.
                          static_cast<void>(inner->Send(topic, partition_key, record, told).ok());
                        });
    return {};
  }

 private:
  Delivered ToldOnce(Delivered delivered) {
    if (!delivered) return nullptr;
    return [&network = ports_.network, node = ports_.node,
            open = std::make_shared<Delivered>(std::move(delivered))](const Status& outcome) {
      network.Send(kBusNode, node, [open, outcome] {
        if (const Delivered tell = std::exchange(*open, nullptr)) tell(outcome);
      });
    };
  }

  const NodePorts ports_;
  const std::shared_ptr<BusProducer> inner_;
  const std::function<void(std::string_view topic)> sending_;
};

struct ConsumerFaults {
  double poll_fails = 0;    // chance of each Poll
  double commit_fails = 0;  // chance of each Commit
  double again = 0;         // chance that a Poll also returns up to kKept earlier records again
};

class FaultConsumer final : public BusConsumer {
 public:
  static constexpr size_t kKept = 8;
  FaultConsumer(NodePorts ports, std::unique_ptr<BusConsumer> inner, ConsumerFaults faults, Rng rng)
      : ports_(std::move(ports)), inner_(std::move(inner)), faults_(faults), rng_(rng) {}

  void SetFaults(const ConsumerFaults& faults) { faults_ = faults; }

  Result<std::vector<ReceivedRecord>> Poll(size_t max) override {
    const bool cut = ports_.network.IsCut(kBusNode, ports_.node);
    if (cut || !ports_.alive || rng_.Chance(faults_.poll_fails)) {
      return {ErrorCode::kUnavailable, "poll: the broker is not reachable"};
    }
    Result<std::vector<ReceivedRecord>> polled = inner_->Poll(max);
    if (!polled.ok()) return polled;
    std::vector<ReceivedRecord> records;
    if (rng_.Chance(faults_.again)) records.assign(kept_.begin(), kept_.end());
    for (ReceivedRecord& record : *polled) {
      kept_.push_back(record);
      if (kept_.size() > kKept) kept_.pop_front();
      records.push_back(std::move(record));
    }
    return records;
  }
  Status Commit(const std::vector<ReceivedRecord>& handled) override {
    if (!ports_.alive || rng_.Chance(faults_.commit_fails)) {
      return {ErrorCode::kUnavailable, "commit: the broker is not reachable"};
    }
    return inner_->Commit(handled);
  }
  void OnReadable(std::function<void()> wake) override { inner_->OnReadable(std::move(wake)); }
  BusHealth Look() override {
    if (ports_.network.IsCut(kBusNode, ports_.node)) return {BusHealth::Contact::kSilent};
    return inner_->Look();
  }

 private:
  const NodePorts ports_;
  const std::unique_ptr<BusConsumer> inner_;
  ConsumerFaults faults_;
  Rng rng_;
  std::deque<ReceivedRecord> kept_;
};

class FaultHub final : public ExecutorHub {
 public:
  // `sending` is called with each message before it is passed to the network.
  FaultHub(NodePorts ports, std::shared_ptr<ExecutorHub> inner,
           std::function<void(const ToExecutor&)> sending)
      : ports_(std::move(ports)), inner_(std::move(inner)), sending_(std::move(sending)) {}
  Status Send(const ExecutorId& executor, const Incarnation& incarnation,
              ToExecutor message) override {
    if (!ports_.alive) return {};
    sending_(message);
    ports_.network.Send(ports_.node, executor.value(),
                        [inner = std::weak_ptr<ExecutorHub>(inner_), executor, incarnation,
                         message = std::move(message)] {
                          const auto hub = inner.lock();  // null: the stream has ended
                          if (hub)
                            static_cast<void>(hub->Send(executor, incarnation, message).ok());
                        });
    return {};
  }
  std::vector<ExecutorMessage> Receive(size_t max) override { return inner_->Receive(max); }
  std::vector<ExecutorProcess> TakeEnded() override { return inner_->TakeEnded(); }
  void OnReadable(std::function<void()> wake) override { inner_->OnReadable(std::move(wake)); }
  void Close(const ExecutorProcess& process) override { inner_->Close(process); }

 private:
  const NodePorts ports_;
  const std::shared_ptr<ExecutorHub> inner_;
  const std::function<void(const ToExecutor&)> sending_;
};

class FaultLink final : public ExecutorLink {
 public:
  FaultLink(NodePorts ports, std::shared_ptr<ExecutorLink> inner)
      : ports_(std::move(ports)), inner_(std::move(inner)) {}
  std::vector<MemberId> Members() override { return inner_->Members(); }
  Status Send(const MemberId& member, FromExecutor message) override {
    if (!ports_.alive) return {};
    ports_.network.Send(
        ports_.node, member.value(),
        [inner = std::weak_ptr<ExecutorLink>(inner_), member, message = std::move(message)] {
          const auto link = inner.lock();
          if (link) static_cast<void>(link->Send(member, message).ok());
        });
    return {};
  }
  std::vector<MemberMessage> Receive(size_t max) override { return inner_->Receive(max); }
  void OnReadable(std::function<void()> wake) override { inner_->OnReadable(std::move(wake)); }
  void Close(const MemberId& member) override { inner_->Close(member); }
  void MayWait(Duration span) override { inner_->MayWait(span); }

 private:
  const NodePorts ports_;
  const std::shared_ptr<ExecutorLink> inner_;
};

}  // namespace carillon::test
