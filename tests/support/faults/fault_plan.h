// The faults that a test orders for calls of a store: an operation fails before it takes effect,
// takes effect and loses its reply, or does not return.
//
// Threads  Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "tests/support/faults/call_gate.h"

namespace carillon::test {

struct Fault {
  static const Fault kUnavailable;    // no effect, kUnavailable
  static const Fault kTimeoutBefore;  // no effect, kTimeout
  static const Fault kTimeoutAfter;   // takes effect, kTimeout

  Fault(ErrorCode error, bool has_effect = false) : code(error), takes_effect(has_effect) {}
  ErrorCode code;
  bool takes_effect;
};
inline const Fault Fault::kUnavailable{ErrorCode::kUnavailable};
inline const Fault Fault::kTimeoutBefore{ErrorCode::kTimeout};
inline const Fault Fault::kTimeoutAfter{ErrorCode::kTimeout, true};

class FaultPlan final : public CallGate {
 public:
  static constexpr std::string_view kText = "password=secret";  // no client may see it

  // `times` calls of `operation` fail, after those that are armed already. "Scan*" means every
  // operation whose name begins with Scan, and "*" every operation.
  void Arm(const std::string& operation, Fault fault, int times = 1) {
    const std::lock_guard lock(mu_);
    armed_.push_back({operation, fault, times});
  }
  // From now on every call fails so.
  void ArmAlways(const std::string& operation, Fault fault) {
    Disarm(operation);
    Arm(operation, fault, std::numeric_limits<int>::max());
  }
  void Disarm(const std::string& operation) {
    const std::lock_guard lock(mu_);
    std::erase_if(armed_, [&](const Armed& armed) { return armed.operation == operation; });
  }
  // Ends the faults of armed operations.
  void Recover() {
    const std::lock_guard lock(mu_);
    armed_.clear();
  }
  // Calls with an argument, or an item of an argument, for which `is_bad` returns true fail without
  // effect; null: none do.
  template <typename T>
  void Refuse(std::function<bool(const T&)> is_bad, ErrorCode code = ErrorCode::kInvalid) {
    const std::lock_guard lock(mu_);
    refusals_.erase(std::type_index(typeid(T)));
    if (!is_bad) return;
    refusals_.emplace(typeid(T), std::pair(code, [is_bad](const StoreCall& call) {
                        if (const T* one = call.Find<T>()) return is_bad(*one);
                        const auto* items = call.Find<std::vector<T>>();
                        return items != nullptr &&
                               std::any_of(items->begin(), items->end(), is_bad);
                      }));
  }
  // `hook` is called before each operation that does not fail. It may block.
  void OnCall(std::function<void(const std::string&)> hook) {
    const std::lock_guard lock(mu_);
    on_call_ = std::move(hook);
  }
  // `hook` is called before an operation fails.
  void OnFault(std::function<void()> hook) {
    const std::lock_guard lock(mu_);
    on_fault_ = std::move(hook);
  }
  // Returns how often the operation was called, whether it failed or not.
  int calls(const std::string& operation) {
    const std::lock_guard lock(mu_);
    int sum = 0;
    for (const auto& [name, count] : calls_) sum += Matches(operation, name) ? count : 0;
    return sum;
  }

  CallFate Enter(const StoreCall& call) override {
    const std::string name(call.name);
    const std::optional<Fault> fault = FaultOf(call, name);
    const auto [on_call, on_fault] = Hooks();
    if (!fault) {
      if (on_call) on_call(name);
      return {};
    }
    if (on_fault) on_fault();
    return {fault->takes_effect ? CallFate::Effect::kNow : CallFate::Effect::kNone,
            Error{fault->code, std::string(kText)}};
  }

 private:
  struct Armed {
    std::string operation;
    Fault fault;
    int times;
  };

  static bool Matches(const std::string& operation, const std::string& name) {
    if (operation.back() != '*') return operation == name;
    return name.compare(0, operation.size() - 1, operation, 0, operation.size() - 1) == 0;
  }
  std::optional<Fault> FaultOf(const StoreCall& call, const std::string& name) {
    std::unique_lock lock(mu_);
    ++calls_[name];
    for (Armed& armed : armed_) {
      if (armed.times == 0 || !Matches(armed.operation, name)) continue;
      --armed.times;
      return armed.fault;
    }
    const auto refusals = refusals_;
    lock.unlock();
    for (const auto& [type, refusal] : refusals) {
      if (refusal.second(call)) return Fault(refusal.first);
    }
    return std::nullopt;
  }
  std::pair<std::function<void(const std::string&)>, std::function<void()>> Hooks() {
    const std::lock_guard lock(mu_);
    return {on_call_, on_fault_};
  }

  std::mutex mu_;
  std::vector<Armed> armed_;
  std::map<std::type_index, std::pair<ErrorCode, std::function<bool(const StoreCall&)>>> refusals_;
  std::map<std::string, int> calls_;
  std::function<void(const std::string&)> on_call_;
  std::function<void()> on_fault_;
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
