// Acts on the ends of runs that something waits for: gives a delay schedule its next fire, starts
// the runs of dependents, and ends the own runs of fires whose parts have ended.
//
// Place    After step 9 of docs/life-of-a-run.md: the end of a run is stored with its completion.
//          The planner then plans the next fire like any other. The run of a dependent is due at
//          once; its owner is told if it is this member, and otherwise finds it with its next scan
//          for due runs.
// Threads  One loop calls Step; Nudge is thread-safe.
// Time     Looks at once after a Nudge, every 100 ms while completions come in, and otherwise every
//          second. An end that another member wrote, by a cancel through its API, is therefore
//          acted upon within a second. The next fire counts from the end, not from this look. After
//          this host's clock was set, ends wait until the cluster's time was sampled again.
// Errors   A batch that the store refuses is halved until the bad completion is alone. That one is
//          set aside for 10 s, counted and logged; the others are acted upon.
// Always   The store decides, in fenced transactions that also delete the completions. Runs while
//          the whole cluster is paused: what it makes due then waits like all other runs.
#pragma once

#include <span>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/ends/refused_items.h"

namespace carillon::scheduler {

class CompletionLoop final : public Stepper {
 public:
  struct Ports {
    OwnerPorts owner;
    CompletionStore& store;
  };
  explicit CompletionLoop(const Ports& ports) : ports_(ports), scan_("completion", ports.owner) {}

  SteadyTime Step(SteadyTime now) override;
  // A completion was written.
  void Nudge() { scan_.Nudge(); }
  size_t set_aside() const { return scan_.aside_count(); }

 private:
  using Look = OwnerScan::Look;

  void ActOnSome(const Look& look);
  Status Write(const Look& look, std::span<const RunCompletion> ends);
  void EndFires(const Look& look, std::span<const RunCompletion> ends);
  Status WriteFires(const Look& look, std::span<const FireLook> fires);
  void CountFire(const FireEffect& effect);
  void EndUntold(const Look& look);
  void Count(std::span<const RunCompletion> ends, const std::vector<CompletionEffect>& effects,
             WallTime cluster_now);
  void CountStarted(const CompletionEffect& effect);
  void ReviveStuck(const Look& look);

  const Ports ports_;
  OwnerScan scan_;  // sets completions aside, by id
  SteadyTime next_watch_{};
  RefusedItems<RunKey> untold_refused_;
  RefusedItems<ScheduleId> stuck_refused_;
};

}  // namespace carillon::scheduler
