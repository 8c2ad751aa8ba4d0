// The due runs that cannot enter a lane yet. The parameters of a manual run, or the definition of
// any run, must be read first.
//
// Place    Step 4 of docs/life-of-a-run.md, a part of firing_loop. plan/parameter_loader reads
//          parameters and offers the run again through the feed.
// Threads  Not thread-safe; the firing loop owns it.
// Errors   While the store cannot be read, the runs wait. LoadDefinitions reads again later.
#pragma once

#include <deque>
#include <vector>

#include "scheduler/fire/firing_ports.h"
#include "scheduler/fire/load_shedding.h"
#include "scheduler/fire/run_places.h"
#include "scheduler/fire/run_skips.h"

namespace carillon::scheduler {

class RunPreparation {
 public:
  RunPreparation(const FiringPorts& ports, RunPlaces& places, RunSkips& skips,
                 const LoadShedding& shedding)
      : ports_(ports), places_(places), skips_(skips), shedding_(shedding) {}

  // Call it when the run is due. The run enters a lane at once, or as soon as its parameters and
  // its definition have been read.
  void MakeReady(TrackedRun& tracked, SteadyTime now);
  // Blocks on the store.
  void LoadDefinitions(SteadyTime now);
  // Repeats requests for parameters that got no answer.
  void AskAgain(SteadyTime now);
  // The time of the next work; SteadyTime::max() if nothing waits.
  SteadyTime NextStep() const;

 private:
  void AskParameters(TrackedRun& tracked, SteadyTime now);
  void LoadSomeDefinitions(SteadyTime now);
  // The definition of the run is known: the run enters a lane, or is handed over if it is a
  // workflow's.
  void GoOn(TrackedRun& tracked, SteadyTime now);
  void TakeDefinition(TrackedRun& tracked, const DefinitionCache::Found& found, SteadyTime now);

  const FiringPorts& ports_;
  RunPlaces& places_;
  RunSkips& skips_;
  const LoadShedding& shedding_;
  std::vector<RunKey> undefined_;
  SteadyTime definitions_retry_{};
  std::deque<PlaceNote> loading_;
};

}  // namespace carillon::scheduler
