// A network between named nodes that loses, duplicates, delays and reorders messages, and can be
// cut in one direction or in both.
//
// Threads  Not thread-safe; the simulator's one thread.
// Time     Each delivery is scheduled as an entry of the timers.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/rng.h"
#include "tests/support/fault_timers.h"

namespace carillon::test {

struct NetworkFaults {
  double lose = 0;    // chance that a message is lost
  double repeat = 0;  // chance that it is delivered twice, each time with its own delay
  double slow = 0;    // chance that it takes up to slow_max instead of usual_max
  Duration usual_min = 50us;
  Duration usual_max = 2ms;
  Duration slow_max = 1s;
};

class FaultNetwork {
 public:
  FaultNetwork(const Clock& clock, FaultTimers& timers, Rng rng)
      : clock_(clock), timers_(timers), rng_(rng) {}

  void SetFaults(const NetworkFaults& faults) { faults_ = faults; }

  // Schedules calls of `deliver`: usually one, two for a duplicate, none for a lost message.
  void Send(const std::string& from, const std::string& to, const std::function<void()>& deliver) {
    if (IsCut(from, to) || rng_.Chance(faults_.lose)) return;
    Schedule(from, to, deliver);
    if (rng_.Chance(faults_.repeat)) Schedule(from, to, deliver);
  }

  // Cut and Heal change one direction only. The name "*" stands for every node.
  void Cut(const std::string& from, const std::string& to) { cuts_.insert({from, to}); }
  void Heal(const std::string& from, const std::string& to) { cuts_.erase({from, to}); }
  void HealAll() { cuts_.clear(); }
  bool IsCut(const std::string& from, const std::string& to) const {
    return cuts_.contains({from, to}) || cuts_.contains({from, "*"}) || cuts_.contains({"*", to});
  }

 private:
  void Schedule(const std::string& from, const std::string& to,
                const std::function<void()>& deliver) {
    const bool slow = rng_.Chance(faults_.slow);
    const Duration most = slow ? faults_.slow_max : faults_.usual_max;
    const auto spread = static_cast<uint64_t>((most - faults_.usual_min).count());
    const Duration delay = faults_.usual_min + Duration(rng_.Below(spread + 1));
    timers_.At(clock_.Steady() + delay, [this, from, to, deliver] {
      if (!IsCut(from, to)) deliver();
    });
  }

  const Clock& clock_;
  FaultTimers& timers_;
  Rng rng_;
  NetworkFaults faults_;
  std::set<std::pair<std::string, std::string>> cuts_;
};

}  // namespace carillon::test
