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
    if (workflow.state == WorkflowEntry::State::kEnded) continue;
    workflow.deadline += paused;
    if (workflow.finally_since) *workflow.finally_since += paused;
  }
  MoveApprovals(paused);
  return tables_.settings = next;
}

// Nobody could decide during the pause. A wait for a time goes on.
void MemorySettingsStore::MoveApprovals(Duration paused) {
  std::vector<RunEntry> moved;
  for (const auto& [key, run] : tables_.runs()) {
    const bool expires =
        run.row.state == RunState::kPending && run.row.due == kUndecided && run.until != WallTime{};
    if (expires) moved.push_back(run);
  }
  for (RunEntry& run : moved) {
    run.until += paused;
    tables_.PutRun(std::move(run));
  }
}

}  // namespace carillon::memory
