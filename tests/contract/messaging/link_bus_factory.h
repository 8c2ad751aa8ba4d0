// A bus over a control link, for the contract of the bus: tasks go to the executor, everything else
// goes to the member.
//
// To use it, derive a factory that makes the two ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/adapters/memory/memory_bus.h"
#include "common/base/metrics/metrics.h"
#include "common/link_bus/carrying_hub.h"
#include "common/link_bus/carrying_link.h"
#include "tests/support/manual_clock.h"

namespace carillon::test {

inline const ExecutorProcess& TheExecutor() {
  static const ExecutorProcess executor{ExecutorId("e1"), Incarnation("x")};
  return executor;
}

class LinkBusFactory {
 public:
  static constexpr int kPartitions = 4;
  static constexpr bool kConfirms = false;

  LinkBusFactory(std::unique_ptr<ExecutorHub> hub, std::unique_ptr<ExecutorLink> link)
      : hub_(std::move(hub)), link_(std::move(link)) {
    // Without an answer to its registration the member takes no records of the executor.
    static_cast<void>(
        member_end_.Send(TheExecutor().executor, TheExecutor().incarnation, Registered{}).ok());
  }

  std::unique_ptr<BusProducer> Producer() { return std::make_unique<BothEnds>(*this); }
  std::unique_ptr<BusConsumer> Consumer(std::string_view topic, std::string_view group,
                                        std::optional<BusBegin> begin = {}) {
    return (topic == kTasksTopic ? at_executor_ : at_member_).NewConsumer(topic, group, {}, begin);
  }
  WallTime Mark() {
    clock_.Advance(1ms);
    return clock_.Wall();
  }
  // Does what the loops of the two daemons do.
  bool Pump(const std::function<bool()>& seen) {
    member_end_.Receive(100);
    executor_end_.Receive(100);
    return seen();
  }

 private:
  // Names the executor in each task, as SealTasks does.
  struct BothEnds final : BusProducer {
    explicit BothEnds(LinkBusFactory& factory) : of(factory) {}
    Status Send(std::string_view topic, uint64_t partition_key, BusRecord record,
                Delivered delivered) override {
      if (topic != kTasksTopic) {
        return of.executor_end_.Send(topic, partition_key, std::move(record), std::move(delivered));
      }
      record.headers["carillon-target"] = TheExecutor().executor.value();
      record.headers["carillon-incarnation"] = TheExecutor().incarnation.value();
      return of.tasks_.Send(topic, partition_key, std::move(record), std::move(delivered));
    }
    LinkBusFactory& of;
  };

  ManualClock clock_;
  Metrics metrics_;
  const std::unique_ptr<ExecutorHub> hub_;
  const std::unique_ptr<ExecutorLink> link_;
  memory::MemoryBus at_member_{{.partitions = kPartitions}, &clock_};
  memory::MemoryBus at_executor_{{.partitions = kPartitions}, &clock_};
  std::unique_ptr<BusProducer> member_side_ = at_member_.NewProducer();
  std::unique_ptr<BusProducer> executor_side_ = at_executor_.NewProducer();
  link_bus::CarryingHub member_end_{*hub_, *member_side_, metrics_};
  link_bus::CarryingLink executor_end_{*link_, *executor_side_, metrics_};
  link_bus::HubProducer tasks_{member_end_, *member_side_};
};

}  // namespace carillon::test
