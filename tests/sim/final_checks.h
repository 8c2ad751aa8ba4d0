// Checks when everything has come to rest: every fire has one outcome (P1), every result that
// reached a disk is known (P6), every failure has its notice, nothing is left over.
#pragma once

#include <vector>

#include "common/adapters/memory/memory_store.h"
#include "tests/sim/checker.h"
#include "tests/sim/history.h"

namespace carillon::sim {

struct FinalPorts {
  memory::MemoryStore& store;
  Checker& checker;
  const History& history;
  WallTime now;
};

void CheckEveryFireHasOneFate(const FinalPorts& ports);
void CheckNoResultIsLost(const FinalPorts& ports);
// Each run that failed for good has left exactly one notice of that, and nothing else has.
void CheckFailuresAreToBeTold(const FinalPorts& ports);
void CheckNothingIsLeftOver(const FinalPorts& ports);
// For worlds in which every job runs everything it missed.
void CheckNoMisfireGap(const FinalPorts& ports);

}  // namespace carillon::sim
