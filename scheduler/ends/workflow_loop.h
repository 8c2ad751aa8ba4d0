// Takes the steps of workflow runs that have begun (begin_loop.h): releases nodes whose upstream
// nodes have ended, and ends the run when all nodes have.
//
// Place    Between steps 9 and 2 of docs/life-of-a-run.md: the end of a node's run is stored with a
//          wake-up, and a node that is released is due, so that its owner fires it like any other
//          run.
// Threads  One loop calls Step; Nudge and open are thread-safe.
// Time     Looks for wake-ups at once after a Nudge, every 100 ms while workflow runs are open, and
//          otherwise every second. Besides, it takes a step of each open run in turn, every 2 s, or
//          at 200 runs a second: that finds deadlines, cancels that were cut off, and lost
//          wake-ups.
// Errors   A run whose step fails is set aside for 10 s, counted and logged; the others go on.
// Always   The store decides, in fenced transactions; steps of up to 50 runs share one. While the
//          whole cluster is paused steps go on, and what they release waits like all other runs.
#pragma once

#include <atomic>
#include <map>
#include <span>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/workflow_store.h"
#include "scheduler/ends/owner_scan.h"

namespace carillon::scheduler {

class WorkflowLoop final : public Stepper {
 public:
  struct Ports {
    OwnerPorts owner;
    WorkflowStore& store;
  };
  explicit WorkflowLoop(const Ports& ports);

  SteadyTime Step(SteadyTime now) override;
  // A run has begun, a node's run has ended, or a request was made.
  void Nudge() { scan_.Nudge(); }
  // Open workflow runs of this member, as of the last full turn.
  int64_t open() const { return open_.load(); }

 private:
  using Look = OwnerScan::Look;

  // The runs of segments that are lost are another member's.
  void ForgetOpen();
  // Returns true if there may be more wake-ups.
  bool FollowWakeUps(const Look& look);
  // Takes a step of each run of the next page of open runs.
  void StepOpenRuns(const Look& look);
  // Takes steps of these runs, until nothing more is to be done, but not too many.
  void TakeSteps(const Look& look, std::vector<StepRequest> steps);
  // A step of each, in as few writes as their faults permit. `again_` gets those with more to do.
  void StepEach(const Look& look, std::span<StepRequest> steps);
  Status Step(const Look& look, std::span<StepRequest> steps);
  void SetAside(const Look& look, const StepRequest& request, const Error& error);
  void Count(const StepEffect& effect);
  void CountEnded(RunState state, int64_t runs);
  void SetOpen(int64_t runs);
  bool IsUnansweredAgain(uint64_t no);

  const Ports ports_;
  OwnerScan scan_;  // sets workflow runs aside, by number
  std::atomic<int64_t> open_{0};
  SteadyTime next_turn_{};              // of the next page of open runs
  SteadyTime next_round_{};             // of the first page
  uint64_t after_ = 0;                  // where the turn goes on
  size_t hidden_ = 0;                   // wake-ups of runs that were set aside, in the last look
  int64_t counted_ = 0;                 // open runs so far in this turn
  std::map<uint64_t, int> unanswered_;  // steps in a row without an answer, by run
  std::map<uint64_t, StepRequest> unfinished_;  // whose last step said `again`
  std::vector<StepRequest> again_;              // so far in this round of steps
};

}  // namespace carillon::scheduler
