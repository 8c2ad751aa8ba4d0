// Decides what happens to the calls of store ports: calls that take time, fail before they take
// effect, or take effect, now or later, while their answer is lost.
//
// Place    A FaultPlan orders the faults of a test; the processes of the simulator draw theirs.
#pragma once

#include <any>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/ports/store/firing_store.h"

namespace carillon::test {

// One call of a store port.
struct StoreCall {
  std::string_view name;  // of the method
  bool is_fenced_write = false;
  std::vector<std::any> arguments;  // pointers to const

  // Returns the first argument of type T, or null.
  template <typename T>
  const T* Find() const {
    for (const std::any& argument : arguments) {
      if (const auto* found = std::any_cast<const T*>(&argument)) return *found;
    }
    return nullptr;
  }
};

// Fate of one call. kLater is possible for fenced writes only. If the segment is taken over in
// between, such a write is refused, as if its connection had been killed.
struct CallFate {
  enum class Effect { kNow, kNone, kLater };
  Effect effect = Effect::kNow;
  // The answer to the caller in place of that of the store. Always set unless `effect` is kNow.
  std::optional<Error> answer;
};

class CallGate {
 public:
  virtual ~CallGate() = default;
  // Enter and Leave may let other processes run for a while.
  virtual CallFate Enter(const StoreCall& call) = 0;
  // Returns false if the process was killed while the call waited: it must not get the answer.
  virtual bool Leave() { return true; }
  virtual void Later(std::function<void()> /*write*/) {}
  // True if this call goes straight to the store. Asked only where a world that lacks something
  // must not change because the store is asked for it; then `finds_nothing` tells whether it does.
  virtual bool IsExempt(std::string_view /*call*/, bool /*finds_nothing*/) { return false; }
  // A fenced write has just taken effect under `fence`.
  virtual void Wrote(std::string_view /*call*/, const Fence& /*fence*/) {}
  // LosingBegins: a LOST batch of these attempts is about to be written. LosingEnded: that call has
  // ended; `answered` is false if it failed or its outcome is unknown.
  virtual void LosingBegins(const std::vector<LostReport>&) {}
  virtual void LosingEnded(const std::vector<LostReport>&, bool /*answered*/) {}
  // The caller has just become the owner of these segments.
  virtual void Taken(const Fence&) {}
  // Reports the answers to a batch of claims, for the trace.
  virtual void Answered(const std::vector<ClaimRequest>&, const std::vector<ClaimReply>&) {}
};

}  // namespace carillon::test
