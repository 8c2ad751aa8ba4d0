// The port CheckpointStore in memory.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/ports/store/checkpoint_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryCheckpointStore final : public CheckpointStore {
 public:
  explicit MemoryCheckpointStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<SaveVerdict>> Save(const std::vector<RunSave>& saves, const Fence& fence,
                                        WallTime now) override;
  Result<std::set<RunKey>> WithCheckpoint(const std::vector<RunKey>& keys) override;
  Result<std::optional<std::string>> ReadCheckpoint(const RunKey& key) override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
