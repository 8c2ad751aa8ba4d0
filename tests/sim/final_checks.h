// Checks for the end of a world, when no run is open: every fire has exactly one outcome (P1),
// every result that reached a disk is in the store (P6), every failure has its notice, and nothing
// is left over.
#pragma once

#include <vector>

#include "tests/sim/calendar_log.h"
#include "tests/sim/checker.h"
#include "tests/sim/history.h"
#include "tests/twins/memory_stores.h"

namespace carillon::sim {

struct FinalPorts {
  memory::MemoryStores& stores;
  Checker& checker;
  const History& history;
  const CalendarLog& calendars;
  WallTime now;
};

// No run has a fire that each version of its calendar excludes that concerns the fire.
void CheckCalendarsAreObeyed(const FinalPorts& ports);
void CheckEveryFireHasOneFate(const FinalPorts& ports);
void CheckNoResultIsLost(const FinalPorts& ports);
// Each run that failed permanently has exactly one notice of its failure. No other run has one.
void CheckFailuresAreToBeTold(const FinalPorts& ports);
// Lateness counts from when a run became due, not from its fire.
void CheckQueuedRunsAreNoMisfires(const FinalPorts& ports);
void CheckNothingIsLeftOver(const FinalPorts& ports);
void CheckDependentsRan(const FinalPorts& ports);
// No workflow run is open.
void CheckWorkflowsEnded(const FinalPorts& ports);
// Each own run has ended as its parts did, and these were told to nobody.
void CheckPartsEnded(const FinalPorts& ports);
// Only for worlds in which every job runs all fires that it missed.
void CheckNoMisfireGap(const FinalPorts& ports);

}  // namespace carillon::sim
