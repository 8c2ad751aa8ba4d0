// The port ExecutorStore in memory.
#pragma once

#include <vector>

#include "common/ports/store/executor_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryExecutorStore final : public ExecutorStore {
 public:
  explicit MemoryExecutorStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<ExecutorRecord>> RegisterExecutors(
      const std::vector<ExecutorRecord>& records) override;
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override;
  Status UpdateAbilities(const std::vector<ExecutorRecord>& records) override;
  Result<std::vector<ExecutorRecord>> ListExecutors() override;
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override;
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override;
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override;
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override;

 private:
  Result<ExecutorRecord*> FindExecutor(const ExecutorId& id) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
