#include "executor/warden/container/container_cleaner.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "executor/warden/container/container_removal.h"

namespace carillon::executor {
namespace {

constexpr Duration kSweepEvery = 30s;
constexpr Duration kForkAgain = 100ms;

// Runs `work` in a child without the warden's descriptors. Returns -1 if there can be none.
template <typename Work>
pid_t InChild(const Work& work) {
  const pid_t warden = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != warden) _exit(1);
  close_range(3, ~0u, 0);
  work();
  _exit(0);
}

}  // namespace

void ContainerCleaner::Remove(const std::string& record) {
  if (!IsRemoving(record)) waiting_.push_back(record);
}

bool ContainerCleaner::IsRemoving(const std::string& record) const {
  return std::find(waiting_.begin(), waiting_.end(), record) != waiting_.end() ||
         std::any_of(removers_.begin(), removers_.end(),
                     [&](const auto& remover) { return remover.second == record; });
}

std::string ContainerCleaner::Reaped(pid_t child, int status) {
  if (child == sweeper_) sweeper_ = -1;
  const auto remover = removers_.find(child);
  if (remover == removers_.end()) return {};
  std::string record = std::move(remover->second);
  removers_.erase(remover);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {  // somebody has killed it
    waiting_.push_back(std::move(record));
    return {};
  }
  removed_.push_back(record);
  return record;
}

void ContainerCleaner::Tick(SteadyTime now) {
  while (!waiting_.empty() && now >= next_try_) {
    const std::string& record = waiting_.back();
    const pid_t remover = InChild([&record] { RemoveUntilGone(record); });
    if (remover < 0) {
      next_try_ = now + kForkAgain;
      break;
    }
    removers_[remover] = record;
    waiting_.pop_back();
  }
  if (engine_.empty() || sweeper_ > 0 || now < next_sweep_) return;
  next_sweep_ = now + kSweepEvery;
  sweeper_ = InChild([this] { SweepContainers(engine_, options_.warden_id, options_.records); });
}

SteadyTime ContainerCleaner::NextTick() const {
  SteadyTime next = waiting_.empty() ? SteadyTime::max() : next_try_;
  if (!engine_.empty() && sweeper_ <= 0) next = std::min(next, next_sweep_);
  return next;
}

}  // namespace carillon::executor
