// The member's end of a bus without brokers: records travel on the control link.
//
// Place    Installations without Kafka. Around the hub, between it and the member's rooms.
// Threads  Thread-safe, as the hub and the local bus are.
// Owns     Nothing; the local bus keeps what has arrived until the member has handled it.
// Errors   Send: kInvalid for a task without a target. A task for an executor without a stream, or
//          with a full one, is lost, as on a broker that nobody reads: its owner publishes it
//          again. A record that arrives while the local bus is full is dropped and counted; the
//          executor sends it again until the database has it.
// Always   An executor can send results and logs only, in its own name, and once the member has
//          accepted its registration. A task goes to its target only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/executor_link.h"
#include "common/ports/message_bus.h"

namespace carillon::link_bus {

// The most records that one Receive moves to the local bus.
inline constexpr size_t kRecordsPerReceive = 4096;

class CarryingHub final : public ExecutorHub {
 public:
  // `local` receives the records of executors.
  CarryingHub(ExecutorHub& hub, BusProducer& local, Metrics& metrics)
      : hub_(hub), local_(local), metrics_(metrics) {}

  // Notes from the answers to registrations and heartbeats which processes are accepted.
  Status Send(const ExecutorId& executor, const Incarnation& incarnation,
              ToExecutor message) override;
  // Moves records to the local bus and returns the other messages.
  std::vector<ExecutorMessage> Receive(size_t max) override;
  std::vector<ExecutorProcess> TakeEnded() override { return hub_.TakeEnded(); }
  void OnReadable(std::function<void()> wake) override;
  void Close(const ExecutorProcess& process) override { hub_.Close(process); }

 private:
  void Take(const ExecutorMessage& from, CarriedRecord carried);

  ExecutorHub& hub_;
  BusProducer& local_;
  Metrics& metrics_;
  Mutex mu_;
  std::map<ExecutorId, Incarnation> accepted_ GUARDED_BY(mu_);  // as many as have certificates
  std::function<void()> wake_ GUARDED_BY(mu_);
};

// Sends tasks to their executors, and everything else to the local bus.
class HubProducer final : public BusProducer {
 public:
  // `inside` is an executor in this process, which reads the local bus.
  HubProducer(ExecutorHub& hub, BusProducer& local, std::optional<ExecutorProcess> inside = {})
      : hub_(hub), local_(local), inside_(std::move(inside)) {}

  using BusProducer::Send;
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override;

 private:
  ExecutorHub& hub_;
  BusProducer& local_;
  const std::optional<ExecutorProcess> inside_;
};

// The hub of a member with one executor inside its process and others on other hosts.
class JoinedHubs final : public ExecutorHub {
 public:
  JoinedHubs(ExecutorHub& inner, ExecutorProcess inside, ExecutorHub& outer)
      : inner_(inner), inside_(std::move(inside)), outer_(outer) {}

  Status Send(const ExecutorId& executor, const Incarnation& incarnation,
              ToExecutor message) override;
  std::vector<ExecutorMessage> Receive(size_t max) override;
  std::vector<ExecutorProcess> TakeEnded() override;
  void OnReadable(std::function<void()> wake) override;
  void Close(const ExecutorProcess& process) override;

 private:
  ExecutorHub& inner_;
  const ExecutorProcess inside_;
  ExecutorHub& outer_;
};

}  // namespace carillon::link_bus
