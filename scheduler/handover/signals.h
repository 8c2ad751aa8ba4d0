// Signals between the rooms of a member. A room raises a signal and does not know who acts on it.
//
// Place    member/member_rooms.cc connects each signal to the loops that act on it.
// Threads  Raise is thread-safe. Connect before the first Raise.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "common/base/ids.h"

namespace carillon {
struct ChangedWork;  // common/ports/store/firing_store.h
}

namespace carillon::scheduler {

template <typename... Args>
class Signal {
 public:
  // `slot` must be thread-safe and must not block. It usually nudges a room and wakes its loop.
  void Connect(std::function<void(const Args&...)> slot) { slots_.push_back(std::move(slot)); }
  void Raise(const Args&... args) const {
    for (const auto& slot : slots_) slot(args...);
  }

 private:
  std::vector<std::function<void(const Args&...)>> slots_;
};

struct MemberSignals {
  Signal<> slot_freed;               // a run has given back a slot of its job or group
  Signal<> completed;                // a completion was written (completion_store.h)
  Signal<> fires_soon;               // a schedule got a fire before the planner's next scan
  Signal<ChangedWork> due;           // a run was made due, whoever owns its segment
  Signal<> dropped;                  // a run that may be due was dropped from memory: scan for it
  Signal<> cancels_requested;        // active runs were asked to stop
  Signal<std::vector<JobNo>> ended;  // runs of these jobs have ended
};

}  // namespace carillon::scheduler
