// The records of a cluster in ZooKeeper other than the assignment: its settings, and the
// trusted store.
#include "common/adapters/zookeeper/zookeeper_coordinator.h"
#include "common/base/log.h"
#include "common/wire/json/coordination_json.h"

namespace carillon::zookeeper {

// Members and assignments do not depend on the settings, so an unreadable record counts as missing;
// a member with newer settings will replace it.
Result<ClusterSettings> ZookeeperCoordinator::ReadConfig(Session& session) {
  auto node = session.Get(Path("config"), true);
  if (!node.ok() && node.code() == ErrorCode::kNotFound) {
    // The node was deleted; without a node there is nothing to watch.
    const auto made = session.Create(Path("config"), "", Session::Life::kPersistent);
    if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
    node = session.Get(Path("config"), true);
  }
  if (!node.ok()) return node.error();
  auto settings = ParseSettings(node->data);
  if (settings.ok()) return settings;
  log::Warn("coordinator", "{}", settings.error().message);
  return ClusterSettings{};
}

// Two members may do this at once: each replaces only the version of the node that it compared.
Status ZookeeperCoordinator::WriteSettings(const ClusterSettings& settings) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, OwnStanding());
  CARILLON_ASSIGN_OR_RETURN(const Node node, standing.session->Get(Path("config"), false));
  const auto stored = ParseSettings(node.data);
  if (stored.ok() && stored->version >= settings.version) return {};
  int failed = -1;
  CARILLON_TRY(standing.session->Commit({{.kind = Op::Kind::kSet,
                                          .path = Path("config"),
                                          .version = node.version,
                                          .data = SettingsText(settings)}},
                                        options_.proof_limit, &failed));
  MarkDirty();
  return {};
}

// The old state is removed first: a partial update reads as unknown, and is repeated.
Status ZookeeperCoordinator::TellPaused(bool paused) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, OwnStanding());
  const auto path = [&standing, this](bool word) {
    return Path("election/" + ToldName(standing.incarnation, word));
  };
  const Status gone = standing.session->Delete(path(!paused));
  if (!gone.ok() && gone.code() != ErrorCode::kNotFound) return gone;
  const auto made = standing.session->Create(path(paused), "", Session::Life::kEphemeral);
  if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
  return {};
}

Result<std::optional<StoreTrust>> ZookeeperCoordinator::ReadTrust() {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, OwnStanding());
  const auto node = standing.session->Get(Path("store"), false);
  if (!node.ok() && node.code() == ErrorCode::kNotFound) {
    // Deleted by hand; Join creates it.
    const auto made = standing.session->Create(Path("store"), "", Session::Life::kPersistent);
    if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
    return std::optional<StoreTrust>{};
  }
  if (!node.ok()) return node.error();
  return ParseTrust(node->data);
}

// The write checks the version of the compared record again.
Status ZookeeperCoordinator::WriteTrust(const StoreTrust& trust,
                                        const std::optional<StoreTrust>& instead_of) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, OwnStanding());
  // A lagging server could return an outdated record.
  CARILLON_TRY(standing.session->Sync(Path("store")));
  CARILLON_ASSIGN_OR_RETURN(const Node node, standing.session->Get(Path("store"), false));
  CARILLON_ASSIGN_OR_RETURN(const std::optional<StoreTrust> stored, ParseTrust(node.data));
  if (stored != instead_of) {
    return {ErrorCode::kConflict, "trust: somebody wrote another record"};
  }
  int failed = -1;
  return standing.session->Commit({{.kind = Op::Kind::kSet,
                                    .path = Path("store"),
                                    .version = node.version,
                                    .data = TrustText(trust)}},
                                  options_.proof_limit, &failed);
}

}  // namespace carillon::zookeeper
