// Publishes how full the queues between the rooms are, and how far the member lags behind the bus.
//
// Threads  One loop calls Step; the other functions that are const are thread-safe.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/loops/bounded_queue.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/message_bus.h"
#include "scheduler/member/member_status.h"

namespace carillon::scheduler {

class QueueGauges final : public Stepper {
 public:
  explicit QueueGauges(Metrics& metrics) : metrics_(metrics) {}

  template <typename T>
  void Watch(const BoundedQueue<T>& queue) {
    reads_.push_back([&queue] { return QueueDepth{queue.name(), queue.size(), queue.capacity()}; });
  }
  void Watch(std::string_view topic, BusConsumer& consumer) {
    consumers_[std::string(topic)] = &consumer;
  }
  std::map<std::string, BusHealth> Topics() const {
    std::map<std::string, BusHealth> topics;
    for (const auto& [topic, consumer] : consumers_) topics[topic] = consumer->Look();
    return topics;
  }
  // False while all topics are silent. One is silent as soon as a partition of it is, e.g. one
  // without a leader, and the others go on without that partition.
  bool BusAnswers() const {
    return consumers_.empty() ||
           std::any_of(consumers_.begin(), consumers_.end(), [](const auto& entry) {
             return entry.second->Look().contact != BusHealth::Contact::kSilent;
           });
  }
  std::vector<QueueDepth> Depths() const {
    std::vector<QueueDepth> depths;
    for (const auto& read : reads_) depths.push_back(read());
    return depths;
  }
  SteadyTime Step(SteadyTime now) override {
    for (const QueueDepth& depth : Depths()) {
      metrics_.gauge("carillon_queue_depth", depth.name).Set(static_cast<double>(depth.depth));
    }
    for (const auto& [topic, health] : Topics()) {
      metrics_.gauge("carillon_consumer_lag", topic).Set(GaugeOf(health.behind));
    }
    return now + 1s;
  }

 private:
  Metrics& metrics_;
  // Constant after set-up.
  std::vector<std::function<QueueDepth()>> reads_;
  std::map<std::string, BusConsumer*> consumers_;
};

}  // namespace carillon::scheduler
