// The live settings of the cluster, which users change while it runs.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include "common/base/cluster_settings.h"
#include "common/base/result.h"

namespace carillon {

class SettingsStore {
 public:
  virtual ~SettingsStore() = default;

  virtual Result<ClusterSettings> ReadSettings() = 0;
  // Replaces all stored settings by `next`, and returns `next`. The version of `next` must be above
  // `expected`. kConflict: the stored version is not `expected`.
  virtual Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next) = 0;
};

}  // namespace carillon
