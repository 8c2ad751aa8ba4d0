// Checks the fires of a pause in which nothing else happened against the misfire policy of their
// job, with plain arithmetic.
#pragma once

#include "tests/sim/final_checks.h"

namespace carillon::sim {

struct PausePorts {
  memory::MemoryStores& stores;
  Checker& checker;
  const History& history;
  WallTime began;     // when every member had paused
  WallTime resumed;   // when the first member knew of the end
  Duration planning;  // most time until due fires were planned again
};

void CheckMisfiresOfPause(const PausePorts& ports);

}  // namespace carillon::sim
