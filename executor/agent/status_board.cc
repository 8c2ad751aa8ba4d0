#include "executor/agent/status_board.h"

namespace carillon::executor {

StatusBoard::StatusBoard(Metrics& metrics)
    : slots_used_(metrics.gauge("carillon_executor_slots", "used")),
      slots_free_(metrics.gauge("carillon_executor_slots", "free")),
      config_version_(metrics.gauge("carillon_config_version")),
      queue_depth_(metrics.gauge("carillon_queue_depth", "executor")) {}

void StatusBoard::Publish(const State& state) {
  idle_.store(state.idle);
  slots_used_.Set(state.slots_used);
  slots_free_.Set(state.slots_free);
  config_version_.Set(static_cast<double>(state.config_version));
  queue_depth_.Set(state.status.queued);
  MutexLock lock(mu_);
  status_ = state.status;
  refusal_ = state.refusal;
}

std::string StatusBoard::refusal() const {
  MutexLock lock(mu_);
  return refusal_;
}

ExecutorDaemon::Status StatusBoard::status() const {
  MutexLock lock(mu_);
  return status_;
}

}  // namespace carillon::executor
