// The executor's view of a ZooKeeper ensemble: the members, and an ephemeral node of its own.
//
//   ROOT/executors/<executor>   ephemeral: the incarnation of its daemon
//
// Place    Every executor of a cluster; its in-memory counterpart is memory_directory.
// Threads  As ZookeeperCoordinator, to which it delegates.
#pragma once

#include <memory>

#include "common/adapters/zookeeper/zookeeper_coordinator.h"
#include "common/ports/member_directory.h"

namespace carillon::zookeeper {

class ZookeeperDirectory final : public MemberDirectory {
 public:
  // As ZookeeperCoordinator::Make.
  static Result<std::unique_ptr<ZookeeperDirectory>> Make(CoordinatorOptions options);

  Status Announce(const ExecutorId& executor, const Incarnation& incarnation) override {
    return coordinator_->Announce(executor, incarnation);
  }
  void Withdraw() override { coordinator_->Leave(); }
  SessionState State() override { return coordinator_->State(); }
  std::vector<MemberInfo> Members() override { return coordinator_->Members(); }
  void OnChange(std::function<void()> wake) override { coordinator_->OnChange(std::move(wake)); }

  std::optional<SessionIdentity> session_identity() { return coordinator_->session_identity(); }

 private:
  explicit ZookeeperDirectory(std::unique_ptr<ZookeeperCoordinator> coordinator)
      : coordinator_(std::move(coordinator)) {}

  const std::unique_ptr<ZookeeperCoordinator> coordinator_;
};

}  // namespace carillon::zookeeper
