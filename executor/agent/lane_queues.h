// The tasks that wait for a slot: one queue for processes, one for in-process attempts.
//
// Place    Between steps 6 and 7 of docs/life-of-a-run.md. TaskAdmission fills the queues,
//          OpenClaims drains them.
// Threads  Not thread-safe; the core loop owns them.
#pragma once

#include <algorithm>
#include <array>

#include "executor/queue/local_queue.h"
#include "executor/runs/run_table.h"

namespace carillon::executor {

class LaneQueues {
 public:
  static constexpr size_t kQueueMax = 8192;                   // tasks waiting for a slot, per lane
  static constexpr size_t kQueueBytesMax = size_t{64} << 20;  // of all tasks in one lane's queue

  using Queue = LocalQueue<AttemptId>;

  Queue& Of(Lane lane) { return queues_[static_cast<size_t>(lane)]; }
  std::array<Queue, 2>& all() { return queues_; }

  // The room in the fuller queue. The lane of a task is unknown until the task is taken
  // off the bus.
  size_t room() const { return kQueueMax - std::max(queues_[0].size(), queues_[1].size()); }
  size_t bytes_room() const { return std::min(queues_[0].bytes_room(), queues_[1].bytes_room()); }
  bool empty() const { return queues_[0].size() + queues_[1].size() == 0; }
  SteadyTime NextExpiry() const {
    return std::min(queues_[0].NextExpiry(), queues_[1].NextExpiry());
  }

 private:
  static constexpr Queue::Limits kLimits{.capacity = kQueueMax, .bytes_max = kQueueBytesMax};

  std::array<Queue, 2> queues_{Queue(kLimits), Queue(kLimits)};
};

}  // namespace carillon::executor
