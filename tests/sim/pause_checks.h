// Checks the fires of a pause during which nothing else happened: each must have the outcome that
// plain arithmetic gives for the misfire policy of its job.
#pragma once

#include "tests/sim/final_checks.h"

namespace carillon::sim {

struct PausePorts {
  memory::MemoryStores& stores;
  Checker& checker;
  const History& history;
  WallTime began;     // when every member had paused
  WallTime resumed;   // when the first member resumed
  Duration planning;  // the longest time after that until due fires were planned again
};

void CheckMisfiresOfPause(const PausePorts& ports);

}  // namespace carillon::sim
