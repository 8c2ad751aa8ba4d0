// The executor's end of a bus without brokers: records travel on the control link.
//
// Place    Installations without Kafka. Around the link, between it and the executor's rooms.
// Threads  Thread-safe, as the link and the local bus are.
// Errors   Send: kUnavailable without a stream to any member, kExhausted if the queues of all
//          streams are full: the caller tries again.
// Always   Each record goes to every member to which there is a stream, because only the owner of a
//          run's segment applies its result. A member can send tasks only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/executor_link.h"
#include "common/ports/message_bus.h"

namespace carillon::link_bus {

class CarryingLink final : public ExecutorLink, public BusProducer {
 public:
  // `local` receives the tasks.
  CarryingLink(ExecutorLink& link, BusProducer& local, Metrics& metrics)
      : link_(link), local_(local), metrics_(metrics) {}

  std::vector<MemberId> Members() override { return link_.Members(); }
  Status Send(const MemberId& member, FromExecutor message) override {
    if (auto* registering = std::get_if<Register>(&message)) registering->carries_records = true;
    return link_.Send(member, std::move(message));
  }
  // Moves records to the local bus and returns the other messages.
  std::vector<MemberMessage> Receive(size_t max) override;
  void OnReadable(std::function<void()> wake) override { link_.OnReadable(std::move(wake)); }
  void Close(const MemberId& member) override { link_.Close(member); }
  void MayWait(Duration span) override { link_.MayWait(span); }

  using BusProducer::Send;
  Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
              Delivered delivered) override;

 private:
  void Take(const MemberId& from, CarriedRecord carried);

  ExecutorLink& link_;
  BusProducer& local_;
  Metrics& metrics_;
};

}  // namespace carillon::link_bus
