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

  Result<std::vector<Group>> ListGroups(WallTime now) override;
  Result<GroupDetail> GetGroup(const std::string& name, size_t limit, WallTime now) override;
  Result<Group> PutGroup(const std::string& name, const GroupChange& change, WallTime now) override;
  Status DeleteGroup(const std::string& name) override;

 private:
  Group ToGroup(const std::string& name, const GroupEntry& entry, WallTime now) const
      REQUIRES(tables_.mu);
  GroupRun ToRun(const RunKey& key, WallTime since) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
