// The faults that a test orders for calls of a store: an operation fails before it takes effect,
// takes effect and loses its reply, or does not return.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/base/result.h"

namespace carillon::test {

enum class Fault {
  kUnavailable,    // no effect, kUnavailable
  kTimeoutBefore,  // no effect, kTimeout
  kTimeoutAfter,   // takes effect, kTimeout
};

// The operations that fail next, and how many times.
class FaultPlan {
 public:
  void Arm(const std::string& operation, Fault fault, int times = 1) {
    const std::lock_guard lock(mu_);
    armed_[operation] = {fault, times};
  }
  // `hook` is called before each operation for which no fault is armed. It may block.
  void OnCall(std::function<void(const std::string&)> hook) {
    const std::lock_guard lock(mu_);
    hook_ = std::move(hook);
  }

  template <typename Operation>
  auto Run(const std::string& name, Operation operation) -> decltype(operation()) {
    std::function<void(const std::string&)> hook;
    Fault fault = Fault::kUnavailable;
    bool failing = false;
    {
      const std::lock_guard lock(mu_);
      hook = hook_;
      const auto it = armed_.find(name);
      if (it != armed_.end() && it->second.second > 0) {
        --it->second.second;
        fault = it->second.first;
        failing = true;
      }
    }
    if (!failing) {
      if (hook) hook(name);
      return operation();
    }
    if (fault == Fault::kUnavailable) return Error{ErrorCode::kUnavailable, "password=secret"};
    if (fault == Fault::kTimeoutAfter) static_cast<void>(operation());
    return Error{ErrorCode::kTimeout, "password=secret"};
  }

 private:
  std::mutex mu_;
  std::map<std::string, std::pair<Fault, int>> armed_;
  std::function<void(const std::string&)> hook_;
};

// While this object exists, calls of one operation do not return.
class Hang {
 public:
  Hang(FaultPlan& plan, const std::string& operation) {
    plan.OnCall([state = state_, operation](const std::string& name) {
      if (name != operation) return;
      std::unique_lock lock(state->mu);
      ++state->inside;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->released; });
    });
  }
  ~Hang() { Release(); }
  Hang(const Hang&) = delete;
  Hang& operator=(const Hang&) = delete;

  // Waits until `count` calls hang.
  bool Await(int count) {
    std::unique_lock lock(state_->mu);
    return state_->changed.wait_for(lock, std::chrono::seconds(120),
                                    [&] { return state_->inside >= count; });
  }
  void Release() {
    const std::lock_guard lock(state_->mu);
    state_->released = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mu;
    std::condition_variable changed;
    int inside = 0;
    bool released = false;
  };
  // Shared, because a call may not yet have returned when the test ends.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace carillon::test
