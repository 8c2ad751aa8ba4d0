// The port GroupStore with the faults of a FaultPlan.
#pragma once

#include <string>
#include <vector>

#include "common/ports/store/group_store.h"
#include "tests/unit/scheduler/api/fault_plan.h"

namespace carillon::test {

class FaultyGroups : public GroupStore {
 public:
  FaultyGroups(GroupStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<std::vector<Group>> ListGroups() override {
    return plan_.Run("ListGroups", [&] { return store_.ListGroups(); });
  }
  Result<GroupDetail> GetGroup(const std::string& name, size_t limit) override {
    return plan_.Run("GetGroup", [&] { return store_.GetGroup(name, limit); });
  }
  Result<Group> PutGroup(const std::string& name, int64_t limit, WallTime now) override {
    return plan_.Run("PutGroup", [&] { return store_.PutGroup(name, limit, now); });
  }
  Status DeleteGroup(const std::string& name) override {
    return plan_.Run("DeleteGroup", [&] { return store_.DeleteGroup(name); });
  }

 private:
  GroupStore& store_;
  FaultPlan& plan_;
};

}  // namespace carillon::test
