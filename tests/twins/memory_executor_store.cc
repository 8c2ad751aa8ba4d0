#include "tests/twins/memory_executor_store.h"

namespace carillon::memory {

Result<std::vector<ExecutorRecord>> MemoryExecutorStore::RegisterExecutors(
    const std::vector<ExecutorRecord>& records) {
  MutexLock lock(tables_.mu);
  std::vector<ExecutorRecord> stored;
  for (const ExecutorRecord& record : records) {
    const auto [it, added] = tables_.executors.emplace(record.id, record);
    if (added) {
      it->second.abilities = {};
    } else {
      ExecutorRecord fresh = record;
      fresh.enabled = it->second.enabled;
      fresh.draining = it->second.draining;
      fresh.labels = it->second.labels;
      fresh.abilities = it->second.abilities;
      it->second = std::move(fresh);
    }
    stored.push_back(it->second);
  }
  return stored;
}

Status MemoryExecutorStore::UpdateExecutors(const std::vector<ExecutorRecord>& records) {
  MutexLock lock(tables_.mu);
  for (const ExecutorRecord& record : records) {
    const auto it = tables_.executors.find(record.id);
    if (it == tables_.executors.end() || it->second.incarnation != record.incarnation) continue;
    it->second.state = record.state;
    it->second.slots = record.slots;
    it->second.running = record.running;
    it->second.load = record.load;
    it->second.last_heartbeat = record.last_heartbeat;
  }
  return {};
}

Status MemoryExecutorStore::UpdateAbilities(const std::vector<ExecutorRecord>& records) {
  MutexLock lock(tables_.mu);
  for (const ExecutorRecord& record : records) {
    const auto it = tables_.executors.find(record.id);
    if (it == tables_.executors.end() || it->second.incarnation != record.incarnation) continue;
    it->second.abilities = record.abilities;
  }
  return {};
}

Result<std::vector<ExecutorRecord>> MemoryExecutorStore::ListExecutors() {
  MutexLock lock(tables_.mu);
  std::vector<ExecutorRecord> all;
  for (const auto& [id, record] : tables_.executors) all.push_back(record);
  return all;
}

Result<ExecutorRecord*> MemoryExecutorStore::FindExecutor(const ExecutorId& id) {
  const auto it = tables_.executors.find(id);
  if (it == tables_.executors.end()) return {ErrorCode::kNotFound, "no executor " + id.value()};
  return &it->second;
}

Result<ExecutorRecord> MemoryExecutorStore::GetExecutor(const ExecutorId& id) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord* record, FindExecutor(id));
  return *record;
}

Result<ExecutorRecord> MemoryExecutorStore::SetExecutorEnabled(const ExecutorId& id, bool enabled) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord * record, FindExecutor(id));
  record->enabled = enabled;
  return *record;
}

Result<ExecutorRecord> MemoryExecutorStore::SetExecutorDraining(const ExecutorId& id,
                                                                bool draining) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord * record, FindExecutor(id));
  record->draining = draining;
  return *record;
}

Result<ExecutorRecord> MemoryExecutorStore::SetExecutorLabels(const LabelEdit& edit) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord * record, FindExecutor(edit.id));
  if (record->labels != edit.expected && record->labels != edit.labels) {
    return {ErrorCode::kConflict, "the labels of " + edit.id.value() + " were changed meanwhile"};
  }
  record->labels = edit.labels;
  return *record;
}

}  // namespace carillon::memory
