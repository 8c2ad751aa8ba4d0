// The executor's view of a ZooKeeper ensemble: the members, and an ephemeral node of its own.
//
// Place    Every executor of a cluster; its in-memory counterpart is memory_directory.
// Threads  Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/adapters/zookeeper/zookeeper_membership.h"
#include "common/ports/member_directory.h"

namespace carillon::zookeeper {

class ZookeeperDirectory final : public MemberDirectory {
 public:
  // See ZookeeperMembership::Make.
  static Result<std::unique_ptr<ZookeeperDirectory>> Make(const CoordinatorOptions& options);

  Status Announce(const ExecutorId& executor, const Incarnation& incarnation) override {
    return membership_->Announce(executor, incarnation);
  }
  void Withdraw() override { membership_->Leave(); }
  SessionState State() override { return membership_->State(); }
  std::vector<MemberInfo> Members() override { return membership_->Members(); }
  void OnChange(std::function<void()> wake) override { membership_->OnChange(std::move(wake)); }

  std::optional<SessionIdentity> session_identity() { return membership_->session_identity(); }

 private:
  explicit ZookeeperDirectory(std::unique_ptr<ZookeeperMembership> membership)
      : membership_(std::move(membership)) {}

  const std::unique_ptr<ZookeeperMembership> membership_;
};

}  // namespace carillon::zookeeper
