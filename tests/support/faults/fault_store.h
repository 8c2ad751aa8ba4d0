// Base of the store ports whose calls go through a CallGate. Each such port passes its calls on by
// Call, Scan and Write.
//
// Threads  As thread-safe as the store and the gate.
// Errors   Those of the gate, whose codes are those of the store's own errors: kUnavailable,
//          kBrokenStore: the call had no effect; kTimeout: the outcome is unknown.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "tests/support/faults/call_gate.h"

namespace carillon::test {

template <typename Port>
class FaultStore : public Port {
 public:
  FaultStore(Port& store, CallGate& gate) : store_(store), gate_(gate) {}

 protected:
  // `method` is a method of the port, or a function that calls one.
  template <typename Method, typename... Args>
  auto Call(std::string_view name, Method method, const Args&... args)
      -> std::invoke_result_t<Method, Port&, const Args&...> {
    const CallFate fate = gate_.Enter({name, false, {std::any(&args)...}});
    if (fate.effect != CallFate::Effect::kNow) return *fate.answer;
    return Answer(name, fate, std::invoke(method, store_, args...));
  }

  // A call that a gate may exempt.
  template <typename Method, typename... Args>
  auto Scan(std::string_view name, Method method, const Args&... args)
      -> std::invoke_result_t<Method, Port&, const Args&...> {
    auto found = std::invoke(method, store_, args...);
    if (gate_.IsExempt(name, found.ok() && found->empty())) return found;
    return Call(name, method, args...);
  }

  // A write with a fence among its arguments.
  template <typename Method, typename... Args>
  auto Write(std::string_view name, Method method, const Args&... args)
      -> std::invoke_result_t<Method, Port&, const Args&...> {
    const CallFate fate = gate_.Enter({name, true, {std::any(&args)...}});
    if (fate.effect == CallFate::Effect::kNone) return *fate.answer;
    // Copies the arguments, because it may be called when the caller has gone on.
    const auto write = [&gate = gate_, &store = store_, name, method, args...] {
      auto outcome = std::invoke(method, store, args...);
      if (outcome.ok()) gate.Wrote(name, std::get<const Fence&>(std::tie(args...)));
      return outcome;
    };
    if (fate.effect == CallFate::Effect::kNow) return Answer(name, fate, write());
    gate_.Later([write] { static_cast<void>(write()); });
    return *fate.answer;
  }

  Port& store_;
  CallGate& gate_;

 private:
  template <typename Outcome>
  Outcome Answer(std::string_view name, const CallFate& fate, Outcome outcome) {
    if (!gate_.Leave()) return Error{ErrorCode::kUnavailable, std::string(name) + ": killed"};
    if (fate.answer) return *fate.answer;
    return outcome;
  }
};

}  // namespace carillon::test
