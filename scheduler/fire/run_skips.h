// The runs that must not start: held here until the skip writer's queue takes them.
//
// Place    Step 4 of docs/life-of-a-run.md, a part of firing_loop; plan/skip_writer writes them.
// Threads  Not thread-safe; the firing loop owns it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/fire/firing_ports.h"
#include "scheduler/fire/run_places.h"

namespace carillon::scheduler {

class RunSkips {
 public:
  RunSkips(const FiringPorts& ports, RunPlaces& places) : ports_(ports), places_(places) {}

  // Settles the run.
  void Skip(TrackedRun& tracked, std::string_view reason, SteadyTime now);
  // No more skips may be decided until some are flushed.
  bool full() const;
  void Flush(SteadyTime now);
  // nullopt: none is held.
  std::optional<SteadyTime> NextFlush(SteadyTime now) const;

 private:
  const FiringPorts& ports_;
  RunPlaces& places_;
  std::vector<SkipRequest> held_;
  SteadyTime retry_{};  // the queue was full: no push before this
};

}  // namespace carillon::scheduler
