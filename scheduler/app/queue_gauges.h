// Shows how full the queues between the rooms are.
//
// Threads  One loop calls Step; Depths is thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "common/base/bounded_queue.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "scheduler/app/member_status.h"

namespace carillon::scheduler {

class QueueGauges final : public Stepper {
 public:
  explicit QueueGauges(Metrics& metrics) : metrics_(metrics) {}

  template <typename T>
  void Watch(const BoundedQueue<T>& queue) {
    reads_.push_back([&queue] { return QueueDepth{queue.name(), queue.size(), queue.capacity()}; });
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
    return now + 1s;
  }

 private:
  Metrics& metrics_;
  std::vector<std::function<QueueDepth()>> reads_;  // constant after set-up
};

}  // namespace carillon::scheduler
