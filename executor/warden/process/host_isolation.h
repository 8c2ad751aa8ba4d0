// Isolation of attempts on the host of the warden: what it can do, found out once, when it starts,
// and what an attempt needs of it.
//
// Threads  Stateless.
#pragma once

#include <string>
#include <vector>

#include "common/domain/features.h"
#include "common/domain/host_check.h"
#include "common/ports/executor_host.h"
#include "executor/warden/process/keeper.h"

namespace carillon::executor {

struct HostIsolation {
  Features features = {Feature::kLimits};
  std::vector<HostCheck> checks = {};
  std::string cgroup =
      {};  // the control group in which those of attempts are made; empty: there are none
  // Below it are the directories of attempts of other users; empty without kRunAs.
  std::string run_directory = {};
  std::string leftovers =
      {};  // the directories that an earlier warden left, to be deleted; empty: none

  // The path for a control group of an attempt; empty: there can be none.
  std::string GroupOf(const std::string& attempt) const {
    return cgroup.empty() ? std::string() : cgroup + "/" + attempt;
  }
};

// `directory` is the warden's own. By its path the attempts of this warden are told from those of
// others in `run_directory`, which is empty if no process may run as another user.
HostIsolation PrepareIsolation(const std::string& directory, const std::string& run_directory);

// kInvalid if a host with these features cannot start the attempt as it must. The daemon sends such
// starts only where they can be carried out; the warden may have been replaced since. Pure.
Status CheckIsolation(const StartAttempt& start, Features host);
// Sets what the keeper needs for the limits that the host can enforce. `cgroup` is the path for a
// group of the attempt.
void ApplyLimits(const Limits& limits, Features host, const std::string& cgroup, ShimSpec& spec);

}  // namespace carillon::executor
