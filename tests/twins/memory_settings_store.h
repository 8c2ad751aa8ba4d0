// The port SettingsStore in memory.
#pragma once

#include "common/ports/store/settings_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemorySettingsStore final : public SettingsStore {
 public:
  explicit MemorySettingsStore(MemoryTables& tables) : tables_(tables) {}

  Result<ClusterSettings> ReadSettings() override;
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                        Duration paused = Duration::zero()) override;

 private:
  void MoveApprovals(Duration paused) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
