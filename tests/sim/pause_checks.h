// The fires of a pause in which nothing else happened, checked against the misfire policy of their
// job with plain arithmetic.
#pragma once

#include "tests/sim/final_checks.h"

namespace carillon::sim {

struct PausePorts {
  memory::MemoryStore& store;
  Checker& checker;
  const History& history;
  WallTime began;     // every member obeyed
  WallTime resumed;   // the first one knew
  Duration planning;  // at most, until what was due is planned
};

void CheckMisfiresOfPause(const PausePorts& ports);

}  // namespace carillon::sim
