// The live settings of the cluster, which users change while it runs.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include "common/base/cluster_settings.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

class SettingsStore {
 public:
  virtual ~SettingsStore() = default;

  virtual Result<ClusterSettings> ReadSettings() = 0;
  // Replaces all stored settings by `next`, and returns `next`. The version of `next` must be above
  // `expected`. kConflict: the stored version is not `expected`. `paused` is the length of a pause
  // of the cluster that this ends: the deadlines of all open workflow runs are so much later,
  // because their nodes could not start meanwhile.
  virtual Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                                Duration paused = Duration::zero()) = 0;
};

}  // namespace carillon
