#include "tests/twins/memory_settings_store.h"

#include <algorithm>

namespace carillon::memory {
namespace {

// The rest at the time `from` of the pause that ends now and lasted `paused`.
Duration LeftOf(const ClusterSettings& before, Duration paused, WallTime from) {
  const auto pause = PauseOf(before);
  const auto since = pause ? ParseRfc3339(pause->since) : Result<WallTime>(WallTime{});
  if (!pause || !since.ok()) return paused;
  return std::clamp(*since + paused - from, Duration::zero(), paused);
}

}  // namespace

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
    if (workflow.finally_since) {
      *workflow.finally_since += LeftOf(tables_.settings, paused, *workflow.finally_since);
    }
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
    run.until += LeftOf(tables_.settings, paused, run.result.started);
    tables_.PutRun(std::move(run));
  }
}

}  // namespace carillon::memory
