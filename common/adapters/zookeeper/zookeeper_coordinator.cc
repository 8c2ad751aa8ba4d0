#include "common/adapters/zookeeper/zookeeper_coordinator.h"

#include <string>

#include "common/wire/json/coordination_json.h"

namespace carillon::zookeeper {
namespace {

Error Fenced() { return {ErrorCode::kFenced, "assignment: not the leader any more"}; }

}  // namespace

Result<std::unique_ptr<ZookeeperCoordinator>> ZookeeperCoordinator::Make(
    const CoordinatorOptions& options) {
  CARILLON_ASSIGN_OR_RETURN(auto membership, ZookeeperMembership::Make(options));
  return std::unique_ptr<ZookeeperCoordinator>(
      new ZookeeperCoordinator(std::move(membership), options.proof_limit));
}

// Removes the old state first. If the second step fails, the state reads as unknown, and the update
// is repeated.
Status ZookeeperCoordinator::AnnouncePaused(bool paused) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, membership_->OwnStanding());
  const auto path = [&standing, this](bool word) {
    return tree_.Path("election/" + AnnouncedName(standing.incarnation, word));
  };
  const Status gone = standing.session->Delete(path(!paused));
  if (!gone.ok() && gone.code() != ErrorCode::kNotFound) return gone;
  const auto made = standing.session->Create(path(paused), "", Session::Life::kEphemeral);
  if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
  return {};
}

// Checks in the same transaction that the member's node exists. This proves that the member still
// leads: node numbers only grow, so no later node has a lower number than the leader's node.
Status ZookeeperCoordinator::WriteAssignment(const Assignment& assignment) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, membership_->OwnStanding());
  if (!standing.leads) return Fenced();
  const uint64_t stored = standing.view.assignment.generation.value();
  if (assignment.generation.value() != stored + 1) {
    return {ErrorCode::kConflict,
            "assignment: generation " + std::to_string(stored) + " is stored"};
  }
  int failed = -1;
  const Status written =
      standing.session->Commit({{.kind = Op::Kind::kCheck, .path = standing.own_path},
                                {.kind = Op::Kind::kSet,
                                 .path = tree_.Path("assignment"),
                                 .version = standing.view.version,
                                 .data = AssignmentText(assignment)}},
                               proof_limit_, &failed);
  if (!written.ok()) {
    membership_->MarkDirty();
    return failed == 0 ? Status(Fenced()) : written;
  }
  membership_->AdoptWritten(assignment, standing.view);
  return {};
}

// Two members may write the settings at the same time. Each write replaces only the version that
// its member has compared.
Status ZookeeperCoordinator::WriteSettings(const ClusterSettings& settings) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, membership_->OwnStanding());
  CARILLON_ASSIGN_OR_RETURN(const Node node, standing.session->Get(tree_.Path("config"), false));
  const auto stored = ParseSettings(node.data);
  if (stored.ok() && stored->version >= settings.version) return {};
  int failed = -1;
  CARILLON_TRY(standing.session->Commit({{.kind = Op::Kind::kSet,
                                          .path = tree_.Path("config"),
                                          .version = node.version,
                                          .data = SettingsText(settings)}},
                                        proof_limit_, &failed));
  membership_->MarkDirty();
  return {};
}

Result<Generation> ZookeeperCoordinator::ProveSession() {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, membership_->OwnStanding());
  int failed = -1;
  const Status written = standing.session->Commit(
      {{.kind = Op::Kind::kCheck,
        .path = tree_.Path("assignment"),
        .version = standing.view.version},
       {.kind = Op::Kind::kSet, .path = standing.own_path, .data = standing.own_text}},
      proof_limit_, &failed);
  if (!written.ok()) {
    membership_->MarkDirty();  // another assignment was written, or this member's node is gone
    return written.error();
  }
  return standing.view.assignment.generation;
}

Result<std::optional<StoreTrust>> ZookeeperCoordinator::ReadTrust() {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, membership_->OwnStanding());
  const auto node = standing.session->Get(tree_.Path("store"), false);
  if (!node.ok() && node.code() == ErrorCode::kNotFound) {
    // The node was deleted by hand after Join had created it.
    const auto made = standing.session->Create(tree_.Path("store"), "", Session::Life::kPersistent);
    if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
    return std::optional<StoreTrust>{};
  }
  if (!node.ok()) return node.error();
  return ParseTrust(node->data);
}

// The write names the version of the compared record, and fails if the record has changed since.
Status ZookeeperCoordinator::WriteTrust(const StoreTrust& trust,
                                        const std::optional<StoreTrust>& instead_of) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, membership_->OwnStanding());
  // Without the sync, a server that lags could return an outdated record.
  CARILLON_TRY(standing.session->Sync(tree_.Path("store")));
  CARILLON_ASSIGN_OR_RETURN(const Node node, standing.session->Get(tree_.Path("store"), false));
  CARILLON_ASSIGN_OR_RETURN(const std::optional<StoreTrust> stored, ParseTrust(node.data));
  if (stored != instead_of) {
    return {ErrorCode::kConflict, "trust: somebody wrote another record"};
  }
  int failed = -1;
  return standing.session->Commit({{.kind = Op::Kind::kSet,
                                    .path = tree_.Path("store"),
                                    .version = node.version,
                                    .data = TrustText(trust)}},
                                  proof_limit_, &failed);
}

}  // namespace carillon::zookeeper
