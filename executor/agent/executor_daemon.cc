#include "executor/agent/executor_daemon.h"

#include <algorithm>

#include "executor/agent/executor_core.h"

namespace carillon::executor {
namespace {

// Results that may wait between the two loops, in addition to one per slot.
constexpr size_t kResultsBeyondSlots = 8192;

}  // namespace

class ExecutorDaemon::Impl {
 public:
  Impl(Ports ports, ExecutorOptions options)
      : ports_(std::move(ports)),
        options_(std::move(options)),
        sender_(
            {ports_.spool, ports_.warden, ports_.results, ports_.metrics}, options_.executor_id,
            static_cast<size_t>(options_.light_slots + options_.tuning.slots) + kResultsBeyondSlots,
            options_.tuning.bus_format),
        logs_({ports_.warden, ports_.results, ports_.metrics}, options_.executor_id),
        saver_({ports_.files, ports_.link, {&ports_.warden, &ports_.handlers}, sender_}),
        core_(ports_, options_, sender_, logs_, saver_) {}

  ~Impl() { core_.OnReadable({}); }

  void OnWake(const std::function<void(Stepper*)>& wake) {
    const auto wake_core = [this, wake] { wake(&core_); };
    core_.OnReadable(wake_core);
    sender_.OnWork([this, wake] { wake(&sender_); });
    logs_.OnWork([this, wake] { wake(&logs_); });
    saver_.OnWork([this, wake] { wake(&saver_); }, wake_core);
  }

  Ports ports_;
  const ExecutorOptions options_;
  ResultSender sender_;
  LogSender logs_;
  CheckpointSender saver_;
  ExecutorCore core_;
};

ExecutorDaemon::ExecutorDaemon(Ports ports, ExecutorOptions options)
    : impl_(std::make_unique<Impl>(std::move(ports), std::move(options))) {}
ExecutorDaemon::~ExecutorDaemon() = default;

std::vector<NamedStepper> ExecutorDaemon::steppers() {
  std::vector<NamedStepper> all = {
      {"exec.core", &impl_->core_}, {"exec.report", &impl_->sender_}, {"exec.logs", &impl_->logs_}};
  if (impl_->saver_.enabled()) all.push_back({"exec.saves", &impl_->saver_});
  return all;
}
void ExecutorDaemon::OnWake(const std::function<void(Stepper*)>& wake) { impl_->OnWake(wake); }
void ExecutorDaemon::Tune(const ExecutorTuning& tuning) {
  impl_->core_.Tune(tuning);
  impl_->sender_.SetFormat(tuning.bus_format);
}
void ExecutorDaemon::Drain() { impl_->core_.Drain(); }
void ExecutorDaemon::Leave(SteadyTime now) { impl_->core_.Leave(now); }
bool ExecutorDaemon::drained() const { return impl_->core_.drained(); }
std::string ExecutorDaemon::refusal() const { return impl_->core_.refusal(); }
ExecutorDaemon::Status ExecutorDaemon::status() const { return impl_->core_.status(); }

}  // namespace carillon::executor
