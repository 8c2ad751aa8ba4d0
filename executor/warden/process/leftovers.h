// Kills what a dead warden left running, before the attempts are reported as lost.
//
// Place    After a restart of the warden: guarantee P4 of docs/semantics.md.
// Threads  Not thread-safe; the warden's loop. Reads /proc only in Step.
// Always   An attempt is returned only when no process has its run and attempt in its environment,
//          and no keeper of the dead warden is left. A process that cleared its environment and
//          whose keeper was killed by hand as well cannot be found (docs/semantics.md). Descendants
//          of another warden's keeper are left alone: two clusters on one host may have runs of the
//          same name.
#pragma once

#include <string>
#include <vector>

#include "executor/warden/process/process_tree.h"
#include "executor/warden/records/warden_directory.h"
#include "executor/warden/records/warden_journal.h"

namespace carillon::executor {

class Leftovers {
 public:
  explicit Leftovers(std::vector<OpenStart> starts);
  bool empty() const { return waiting_.empty(); }
  const std::vector<OpenStart>& waiting() const { return waiting_; }
  // Kills the processes it finds, and returns the attempts of which no process lives any more. Does
  // nothing before NextStep.
  std::vector<OpenStart> Step(SteadyTime now);
  SteadyTime NextStep() const { return waiting_.empty() ? SteadyTime::max() : next_step_; }

 private:
  bool KeepersLeft(const std::vector<ProcessEntry>& processes, SteadyTime now);

  std::vector<OpenStart> waiting_;
  WardenDirectory own_;
  SteadyTime next_step_{};
  SteadyTime keepers_killed_at_ = SteadyTime::max();  // keepers are left alone until this time
};

}  // namespace carillon::executor
