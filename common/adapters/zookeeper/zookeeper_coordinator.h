// Election, membership, assignment and settings on a ZooKeeper ensemble (cluster_tree.h lists the
// nodes). zookeeper_membership keeps the session and the view; the writes are here.
//
// Place    Every member of a cluster; its in-memory counterpart is memory_coordinator.
// Threads  Thread-safe.
// Time     Join blocks up to a session timeout, the writes up to `proof_limit`.
// Always   Only a write of this process's own session that the quorum accepted proves ownership. A
//          read never does, because it may be stale.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/adapters/zookeeper/zookeeper_membership.h"
#include "common/ports/coordinator.h"

namespace carillon::zookeeper {

class ZookeeperCoordinator final : public Coordinator {
 public:
  // See ZookeeperMembership::Make.
  static Result<std::unique_ptr<ZookeeperCoordinator>> Make(const CoordinatorOptions& options);

  Status Join(const MemberInfo& self) override { return membership_->Join(self); }
  void Leave() override { membership_->Leave(); }
  uint64_t Joins() override { return membership_->Joins(); }
  SessionState State() override { return membership_->State(); }
  bool IsLeader() override { return membership_->IsLeader(); }
  std::optional<MemberId> Leader() override { return membership_->Leader(); }
  std::vector<MemberInfo> Members() override { return membership_->Members(); }
  Result<Assignment> ReadAssignment() override { return membership_->LastAssignment(); }
  Result<ClusterSettings> ReadSettings() override { return membership_->LastSettings(); }
  void OnChange(std::function<void()> wake) override { membership_->OnChange(std::move(wake)); }

  Status AnnouncePaused(bool paused) override;
  Status WriteAssignment(const Assignment& assignment) override;
  Status WriteSettings(const ClusterSettings& settings) override;
  Result<Generation> ProveSession() override;
  Result<std::optional<StoreTrust>> ReadTrust() override;
  Status WriteTrust(const StoreTrust& trust, const std::optional<StoreTrust>& instead_of) override;

  // Both belong to the current membership, and are empty before Join.
  std::optional<SessionIdentity> session_identity() { return membership_->session_identity(); }
  std::optional<Incarnation> incarnation() { return membership_->incarnation(); }

 private:
  using Standing = ZookeeperMembership::Standing;

  ZookeeperCoordinator(std::unique_ptr<ZookeeperMembership> membership, Duration proof_limit)
      : membership_(std::move(membership)), tree_(membership_->tree()), proof_limit_(proof_limit) {}

  const std::unique_ptr<ZookeeperMembership> membership_;
  const ClusterTree& tree_;
  const Duration proof_limit_;
};

}  // namespace carillon::zookeeper
