// The tasks that wait for a slot: one queue for processes, one for in-process attempts, one
// for handlers.
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
  std::array<Queue, kLanes>& all() { return queues_; }

  // The room in the fullest queue. The lane of a task is unknown until the task is taken
  // off the bus.
  size_t room() const {
    size_t most = 0;
    for (const Queue& queue : queues_) most = std::max(most, queue.size());
    return kQueueMax - most;
  }
  size_t bytes_room() const {
    size_t least = kQueueBytesMax;
    for (const Queue& queue : queues_) least = std::min(least, queue.bytes_room());
    return least;
  }
  bool empty() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const Queue& q) { return q.size() == 0; });
  }
  SteadyTime NextExpiry() const {
    SteadyTime next = SteadyTime::max();
    for (const Queue& queue : queues_) next = std::min(next, queue.NextExpiry());
    return next;
  }

 private:
  static constexpr Queue::Limits kLimits{.capacity = kQueueMax, .bytes_max = kQueueBytesMax};

  std::array<Queue, kLanes> queues_{Queue(kLimits), Queue(kLimits), Queue(kLimits)};
};

}  // namespace carillon::executor
