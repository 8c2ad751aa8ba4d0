// The port GroupStore in memory.
#pragma once

#include <string>
#include <vector>

#include "common/ports/store/group_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryGroupStore final : public GroupStore {
 public:
  explicit MemoryGroupStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<Group>> ListGroups() override;
  Result<GroupDetail> GetGroup(const std::string& name, size_t limit) override;
  Result<Group> PutGroup(const std::string& name, int64_t limit, WallTime now) override;
  Status DeleteGroup(const std::string& name) override;

 private:
  Group ToGroup(const std::string& name, const GroupEntry& entry) const REQUIRES(tables_.mu);
  GroupRun ToRun(const RunKey& key, WallTime since) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
