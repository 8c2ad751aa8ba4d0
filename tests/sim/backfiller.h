// Plays the users who run past fires of jobs: starts backfills, and pauses, resumes and cancels
// them at random.
//
// Always   Draws from a random stream of its own, so that it does not change what the actor does.
#pragma once

#include <functional>
#include <optional>

#include "common/base/rng.h"
#include "common/ports/store/stores.h"
#include "tests/sim/checker.h"
#include "tests/sim/final_checks.h"

namespace carillon::sim {

class Backfiller {
 public:
  struct Ports {
    Stores stores;
    Checker& checker;
    std::function<WallTime()> now;
    std::function<void(const ChangedWork&)> nudge;
  };
  struct Options {
    uint64_t seed = 1;
    bool of_lost_nodes = false;  // in each world and often: runs of workflows that failed
  };
  Backfiller(Ports ports, Options options);

  // True if this world has backfills.
  bool acts() const { return acts_; }
  // Call it once every simulated second.
  void Act();
  // Resumes all backfills, so that they can end.
  void Calm();

 private:
  void Start();
  void Control(const Backfill& backfill);

  const Ports p_;
  const Options options_;
  Rng rng_;
  int rounds_ = 0;
  const bool acts_;
};

// A backfill that has not ended although all of its runs have; its owner has to look at it
// once more.
std::optional<Backfill> BackfillToEnd(BackfillStore& store, const Checker& checker);

// Each backfill has ended, or waits for runs that wait for a person. One that is COMPLETED has
// looked at each fire of its range, and each of these has a run or is missed.
void CheckBackfills(const FinalPorts& ports);

}  // namespace carillon::sim
