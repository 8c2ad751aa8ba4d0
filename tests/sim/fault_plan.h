// The kinds of faults in a world and their frequency, drawn from its seed.
#pragma once

#include "common/base/rng.h"
#include "tests/support/fault_messages.h"
#include "tests/support/fault_network.h"

namespace carillon::sim {

struct StoreFaults {
  double unavailable = 0;  // chance of each call
  double unknown = 0;      // chance of each write
  double slow = 0;         // chance of each call
  Duration slow_max = 2s;
  double slow_losses = 0;  // chance of each LOST batch, before it is written
};

// Chance of each event per simulated second, in the whole world.
struct EventRates {
  double kill_scheduler = 0;
  double kill_daemon = 0;
  double kill_warden = 0;
  double kill_host = 0;  // daemon and warden together
  double stop_scheduler = 0;
  double stop_daemon = 0;
  double stop_warden = 0;  // for less than the margin within which it must kill
  double suspend_session = 0;
  double cut_network = 0;
  double bus_away = 0;  // only in worlds with a topic of dead letters
  double store_outage = 0;
  double break_store = 0;  // as if a table were missing for a while
  double step_clock = 0;
  double fill_disk = 0;
  double hang = 0;  // of one dependency; never two at the same time
  // Implemented in world_edges.cc.
  double stale_answer = 0;
  double comeback = 0;
  double late_proof = 0;
  Duration stop_max = 40s;
  Duration cut_max = 40s;
  Duration hang_max = 60s;
};

struct FaultPlan {
  const char* kind = "calm";
  test::NetworkFaults network;
  test::ConsumerFaults consumer;
  StoreFaults store;
  EventRates events;
  bool about_leases = false;   // several hosts, and every process lasts longer than a lease
  bool kills_nothing = false;  // no fault of this plan justifies ending a process
};

// One seed in ten is calm; each of the others mixes all faults with an emphasis on one kind.
FaultPlan DrawFaults(Rng& rng);
// Few faults beside those that end leases, so that many runs are active when a lease ends.
FaultPlan LeaseFaults();
// Schedulers are killed, and the bus is away.
FaultPlan LetterFaults();
// The only faults are dependencies that hang, one after the other, longer than every time limit.
FaultPlan HangFaults();

}  // namespace carillon::sim
