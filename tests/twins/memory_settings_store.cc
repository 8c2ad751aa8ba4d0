#include "tests/twins/memory_settings_store.h"

namespace carillon::memory {

Result<ClusterSettings> MemorySettingsStore::ReadSettings() {
  MutexLock lock(tables_.mu);
  return tables_.settings;
}

Result<ClusterSettings> MemorySettingsStore::WriteSettings(int64_t expected,
                                                           const ClusterSettings& next) {
  MutexLock lock(tables_.mu);
  if (tables_.settings.version != expected) {
    return {ErrorCode::kConflict, "the settings were changed meanwhile"};
  }
  return tables_.settings = next;
}

}  // namespace carillon::memory
