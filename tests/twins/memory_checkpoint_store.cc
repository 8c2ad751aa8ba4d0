#include "tests/twins/memory_checkpoint_store.h"

#include <algorithm>

namespace carillon::memory {

Result<std::vector<SaveVerdict>> MemoryCheckpointStore::Save(const std::vector<RunSave>& saves,
                                                             const Fence& fence, WallTime now) {
  for (const RunSave& save : saves) {
    const bool covered = std::any_of(fence.begin(), fence.end(), [&](const FencedSegment& held) {
      return held.segment == save.segment;
    });
    if (!covered) return {ErrorCode::kInvalid, "saves: a run is outside the fence"};
  }
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  std::vector<SaveVerdict> verdicts;
  for (const RunSave& save : saves) {
    const RunEntry* run = tables_.FindRun(save.key);
    const auto found = tables_.saved.find(save.key);
    verdicts.push_back(DecideSave(
        run == nullptr ? nullptr : &run->row,
        found == tables_.saved.end() ? std::nullopt : std::optional(found->second.last), save));
    if (verdicts.back() != SaveVerdict::kKept) continue;
    SavedEntry& entry = tables_.saved[save.key];
    entry.last = {save.attempt, save.seq};
    if (save.progress) {
      entry.state.progress = save.progress;
      entry.state.progress_at = now;
    }
    if (save.checkpoint) {
      entry.checkpoint = *save.checkpoint;
      entry.state.checkpoint = {.size = static_cast<int64_t>(entry.checkpoint.size()),
                                .attempt = save.attempt,
                                .at = now};
    }
  }
  return verdicts;
}

Result<std::set<RunKey>> MemoryCheckpointStore::WithCheckpoint(const std::vector<RunKey>& keys) {
  MutexLock lock(tables_.mu);
  std::set<RunKey> found;
  for (const RunKey& key : keys) {
    const auto saved = tables_.saved.find(key);
    if (saved != tables_.saved.end() && saved->second.state.checkpoint) found.insert(key);
  }
  return found;
}

Result<std::optional<std::string>> MemoryCheckpointStore::ReadCheckpoint(const RunKey& key) {
  MutexLock lock(tables_.mu);
  const auto saved = tables_.saved.find(key);
  if (saved == tables_.saved.end() || !saved->second.state.checkpoint) {
    return std::optional<std::string>{};
  }
  return std::optional(saved->second.checkpoint);
}

}  // namespace carillon::memory
