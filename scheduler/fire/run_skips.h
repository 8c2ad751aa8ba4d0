// The runs that must not start. They are held until the skip writer's queue has room for them.
//
// Place    Step 4 of docs/life-of-a-run.md, a part of firing_loop; plan/skip_writer writes them.
// Threads  Not thread-safe; the firing loop owns it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/fire/firing_ports.h"
#include "scheduler/fire/run_places.h"

namespace carillon::scheduler {

class RunSkips {
 public:
  RunSkips(const FiringPorts& ports, RunPlaces& places) : ports_(ports), places_(places) {}

  // Adds the run to the held ones and moves it to kSettled.
  void Skip(TrackedRun& tracked, std::string_view reason, SteadyTime now, std::string error = {});
  // True if no more runs may be skipped before the next flush.
  bool full() const;
  void Flush(SteadyTime now);
  // The time of the next flush; nullopt if no run is held.
  std::optional<SteadyTime> NextFlush(SteadyTime now) const;

 private:
  const FiringPorts& ports_;
  RunPlaces& places_;
  std::vector<SkipRequest> held_;
  SteadyTime retry_{};  // no push before this time, because the queue was full
};

}  // namespace carillon::scheduler
