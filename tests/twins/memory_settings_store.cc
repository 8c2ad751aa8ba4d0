#include "tests/twins/memory_settings_store.h"

namespace carillon::memory {

Result<ClusterSettings> MemorySettingsStore::ReadSettings() {
  MutexLock lock(tables_.mu);
  return tables_.settings;
}

Result<ClusterSettings> MemorySettingsStore::WriteSettings(int64_t expected,
                                                           const ClusterSettings& next,
                                                           Duration paused) {
  MutexLock lock(tables_.mu);
  if (tables_.settings.version != expected) {
    return {ErrorCode::kConflict, "the settings were changed meanwhile"};
  }
  for (auto& [no, workflow] : tables_.workflow_runs) {
    if (workflow.state != WorkflowEntry::State::kEnded) workflow.deadline += paused;
  }
  return tables_.settings = next;
}

}  // namespace carillon::memory
