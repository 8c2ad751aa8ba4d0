#include "tests/sim/fault_plan.h"

namespace carillon::sim {
namespace {

FaultPlan Mixed(Rng& rng) {
  FaultPlan plan{.kind = "mixed"};
  plan.network = {.lose = rng.Chance(0.5) ? 0.02 : 0.0,
                  .repeat = rng.Chance(0.5) ? 0.05 : 0.0,
                  .slow = rng.Chance(0.6) ? 0.03 : 0.0,
                  .slow_max = rng.Chance(0.3) ? 20s : 2s};
  plan.consumer = {.poll_fails = 0.01, .commit_fails = 0.02, .again = 0.02};
  plan.store = {.unavailable = rng.Chance(0.5) ? 0.01 : 0.0,
                .unknown = rng.Chance(0.5) ? 0.01 : 0.0,
                .slow = rng.Chance(0.5) ? 0.02 : 0.002,
                .slow_max = rng.Chance(0.3) ? 12s : 1s};
  plan.events = {.kill_scheduler = 0.02,
                 .kill_daemon = 0.02,
                 .kill_warden = 0.01,
                 .kill_host = 0.005,
                 .stop_scheduler = 0.02,
                 .stop_daemon = 0.02,
                 .stop_warden = 0.02,
                 .suspend_session = 0.02,
                 .cut_network = 0.02,
                 .store_outage = 0.01,
                 .break_store = 0.01,
                 .step_clock = 0.01,
                 .fill_disk = 0.005};
  return plan;
}

}  // namespace

FaultPlan DrawFaults(Rng& rng) {
  const uint64_t dice = rng.Below(10);
  if (dice == 0) return {};
  FaultPlan plan = Mixed(rng);
  if (dice == 1) {
    plan.kind = "stopped schedulers";
    plan.events.stop_scheduler = 0.1;
    plan.events.suspend_session = 0.06;
  } else if (dice == 2) {
    plan.kind = "stopped daemons";
    plan.events.stop_daemon = 0.1;
    plan.events.kill_daemon = 0.05;
  } else if (dice == 3) {
    plan.kind = "bad network";
    plan.network = {.lose = 0.1, .repeat = 0.2, .slow = 0.15, .slow_max = 15s};
    plan.events.cut_network = 0.08;
  } else if (dice == 4) {
    plan.kind = "bad store";
    plan.store = {.unavailable = 0.05, .unknown = 0.05, .slow = 0.05, .slow_max = 6s};
    plan.events.store_outage = 0.04;
    plan.events.break_store = 0.04;
  } else if (dice == 6 || dice == 7) {
    plan = LeaseFaults();
  } else if (dice == 5) {
    plan.kind = "kills";
    plan.events.kill_scheduler = 0.08;
    plan.events.kill_daemon = 0.08;
    plan.events.kill_warden = 0.04;
  }
  return plan;
}

FaultPlan LeaseFaults() {
  FaultPlan plan{.kind = "leases", .about_leases = true};
  plan.network = {.lose = 0.02, .repeat = 0.05, .slow = 0.05, .slow_max = 25s};
  plan.store = {.slow = 0.01, .slow_max = 14s, .slow_losses = 0.6};
  plan.events = {.kill_daemon = 0.01,
                 .stop_scheduler = 0.02,
                 .stop_daemon = 0.02,
                 .suspend_session = 0.05,
                 .cut_network = 0.02,
                 .stale_answer = 0.05,
                 .comeback = 0.03,
                 .late_proof = 0.03,
                 .stop_max = 60s,
                 .cut_max = 60s};
  return plan;
}

FaultPlan LetterFaults() {
  return {.kind = "letters",
          .network = {.lose = 0.05, .repeat = 0.05, .slow = 0.03, .slow_max = 20s},
          .store = {.unavailable = 0.02, .unknown = 0.01, .slow = 0.01},
          .events = {.kill_scheduler = 0.06,
                     .kill_daemon = 0.02,
                     .stop_scheduler = 0.02,
                     .suspend_session = 0.03,
                     .cut_network = 0.02,
                     .bus_away = 0.04,
                     .store_outage = 0.02}};
}

FaultPlan HangFaults() {
  return {.kind = "hangs", .events = {.hang = 0.1}, .about_leases = true, .kills_nothing = true};
}

}  // namespace carillon::sim
