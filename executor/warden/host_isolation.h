// What this warden can isolate on its host: found out once, when it starts.
//
// Threads  Stateless.
#pragma once

#include <string>
#include <vector>

#include "common/domain/features.h"
#include "common/domain/host_check.h"

namespace carillon::executor {

struct HostIsolation {
  Features features = {Feature::kLimits};
  std::vector<HostCheck> checks = {};
  std::string cgroup = {};  // the control group in which those of attempts are made; empty: there are none
  // Below it are the directories of attempts of other users; empty without kRunAs.
  std::string run_directory = {};
  std::string leftovers = {};  // the directories that an earlier warden left, to be deleted; empty: none
};

// `directory` is the warden's own. By its path the attempts of this warden are told from those of others in
// `run_directory`, which is empty if no process may run as another user.
HostIsolation PrepareIsolation(const std::string& directory, const std::string& run_directory);

}  // namespace carillon::executor
