// Begins the due runs of workflows, and the fires that have parts (fan_out.h); the workflow loop
// and the completion loop continue them.
//
// Place    After step 4 of docs/life-of-a-run.md: the firing loop hands over due runs that need no
//          executor.
// Threads  One loop calls Step, beside that of the workflow loop, so that neither waits for the
//          other's transactions; Add is thread-safe.
// Time     Looks at once after an Add. A fire that has as many parts as hosts are alive does not
//          begin in the first 20 s, when the store may not have heard of all of them since the
//          whole cluster was down.
// Errors   A run that cannot begin now stays due, and the sweep offers it again.
// Always   The store decides, in one fenced transaction a begin. While the whole cluster is paused
//          nothing begins.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/ports/store/workflow_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

// A due run of a workflow, or of a job that fans out, with the rules of its job's version.
struct DueWorkflow {
  PendingRun run;
  OverlapRules overlap = {};
  bool fans_out = false;
  bool counts_hosts = false;            // its parts are as many as hosts are alive
  Duration late_after{};                // of ClaimRequest
  std::optional<Places> rendered = {};  // of PartsRequest
};
DueWorkflow ToDue(const PendingRun& run, const JobDefinition& job, Duration late_after);

class BeginLoop final : public Stepper {
 public:
  struct Ports {
    OwnerPorts owner;
    WorkflowStore& store;
    const UpgradeWatch& upgrade;
    // A workflow run has begun, and has a step to take.
    std::function<void()> has_step = [] {};
    // The parts of the fire are due, as far as is known.
    std::function<void(const RunKey&)> begun = [](const RunKey&) {};
    // The fire has not begun, or has no parts.
    std::function<void(const RunKey&)> not_begun = [](const RunKey&) {};
  };
  explicit BeginLoop(const Ports& ports) : ports_(ports), scan_("begin", ports.owner) {}

  SteadyTime Step(SteadyTime now) override;
  // Begins the run with the next look. kExhausted: too many wait already; the run stays due.
  Status Add(DueWorkflow due);

 private:
  using Look = OwnerScan::Look;

  void Begin(const Look& look, const DueWorkflow& due);
  ClaimRequest RequestOf(const DueWorkflow& due) const;
  // True if its parts are due now, as far as is known.
  bool BeginParts(const Look& look, const DueWorkflow& due);
  void CountBegin(ClaimVerdict verdict, ClaimReason reason);
  void CountEnded(RunState state);

  const Ports ports_;
  OwnerScan scan_;
  std::optional<SteadyTime> first_step_ = {};
  Mutex mu_;
  std::map<RunKey, DueWorkflow> due_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
