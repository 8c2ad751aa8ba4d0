#include "common/base/loops/loop.h"

#include <pthread.h>

#include <algorithm>

namespace carillon {
namespace {

// The longest wait between two calls of Step: it bounds the effect of a lost wake-up or clock step.
constexpr Duration kLongestWait = 1s;

}  // namespace

LoopRunner::LoopRunner(std::string name, const Clock& clock, Stepper& stepper)
    : name_(std::move(name)), clock_(clock), stepper_(stepper), thread_([this] { Run(); }) {}

LoopRunner::~LoopRunner() { Stop(); }

void LoopRunner::Wake() {
  {
    std::lock_guard lock(mu_);
    woken_ = true;
  }
  changed_.notify_one();
}

void LoopRunner::Stop() {
  {
    std::lock_guard lock(mu_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void LoopRunner::Run() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  std::unique_lock lock(mu_);
  while (!stopping_) {
    woken_ = false;
    lock.unlock();
    const SteadyTime next = stepper_.Step(clock_.Steady());
    lock.lock();
    const Duration wait = std::clamp(next - clock_.Steady(), Duration::zero(), kLongestWait);
    if (wait > Duration::zero()) {
      changed_.wait_for(lock, wait, [this] { return woken_ || stopping_; });
    }
  }
}

}  // namespace carillon
