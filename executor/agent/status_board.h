// The state of the executor for other threads: its status, its refusal, and the gauges.
//
// Threads  The core loop publishes; everything else is thread-safe.
#pragma once

#include <atomic>
#include <string>

#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "executor/agent/executor_daemon.h"

namespace carillon::executor {

class StatusBoard {
 public:
  struct State {
    ExecutorDaemon::Status status;
    bool idle = false;  // nothing runs and every result was applied
    int slots_used = 0;
    int slots_free = 0;
    int64_t config_version = 0;
    const std::string& refusal;
  };
  explicit StatusBoard(Metrics& metrics);

  void Publish(const State& state);

  bool idle() const { return idle_.load(); }
  std::string refusal() const;
  ExecutorDaemon::Status status() const;

 private:
  // Resolved once, so that no Step looks a gauge up by name.
  Gauge& slots_used_;
  Gauge& slots_free_;
  Gauge& config_version_;
  Gauge& queue_depth_;
  std::atomic<bool> idle_{false};
  mutable Mutex mu_;
  ExecutorDaemon::Status status_ GUARDED_BY(mu_);
  std::string refusal_ GUARDED_BY(mu_);
};

}  // namespace carillon::executor
