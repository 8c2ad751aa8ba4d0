// The port GroupStore on MariaDB or MySQL: the tables concurrency_groups and group_slots.
//
// Always   Lock order as in mysql_firing_store.h.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/group_store.h"

namespace carillon::mysql {

class MysqlGroupStore final : public GroupStore {
 public:
  explicit MysqlGroupStore(MysqlDatabase& db) : db_(db) {}

  Result<std::vector<Group>> ListGroups(WallTime now) override;
  Result<GroupDetail> GetGroup(const std::string& name, size_t limit, WallTime now) override;
  Result<Group> PutGroup(const std::string& name, const GroupChange& change, WallTime now) override;
  Status DeleteGroup(const std::string& name) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
