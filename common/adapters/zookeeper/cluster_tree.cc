#include "common/adapters/zookeeper/cluster_tree.h"

#include <vector>

#include "common/wire/json/coordination_json.h"

namespace carillon::zookeeper {

Status ClusterTree::Make(Session& session) const {
  std::vector<std::string> paths;
  for (size_t slash = root_.find('/', 1); slash != std::string::npos;
       slash = root_.find('/', slash + 1)) {
    paths.push_back(root_.substr(0, slash));
  }
  for (const char* name : {"", "/election", "/assignment", "/executors", "/config", "/store"}) {
    paths.push_back(root_ + name);
  }
  for (const std::string& path : paths) {
    const auto made = session.Create(path, "", Session::Life::kPersistent);
    if (!made.ok() && made.code() != ErrorCode::kExists) return made.error();
  }
  return {};
}

// If the response to an earlier create was lost, a node whose name begins with the incarnation may
// exist already. If the node belongs to `session`, uses the node. Otherwise deletes the node,
// because it would end with the session that it belongs to.
Result<std::string> ClusterTree::EnterElection(Session& session, const MemberInfo& self) const {
  const std::string prefix = self.incarnation.value() + "-";
  const std::string text = MemberText(self);
  CARILLON_TRY(session.Sync(Path("election")));
  CARILLON_ASSIGN_OR_RETURN(const auto names, session.Children(Path("election"), false));
  std::string own;
  for (const std::string& name : names) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const auto node = session.Get(Path("election/" + name), false);
    if (node.ok() && node->owner == session.identity().id && node->data == text && own.empty()) {
      own = "election/" + name;
      continue;
    }
    const Status deleted = session.Delete(Path("election/" + name));
    if (!deleted.ok() && deleted.code() != ErrorCode::kNotFound) return deleted.error();
  }
  if (!own.empty()) return own;
  CARILLON_ASSIGN_OR_RETURN(
      const std::string path,
      session.Create(Path("election/" + prefix), text, Session::Life::kEphemeralSequence));
  return "election/" + path.substr(path.rfind('/') + 1);
}

// If only the response to an earlier create was lost, the node exists already.
Result<std::string> ClusterTree::ShowExecutor(Session& session, const ExecutorId& executor,
                                              const Incarnation& incarnation) const {
  const std::string own = "executors/" + executor.value();
  const auto made = session.Create(Path(own), incarnation.value(), Session::Life::kEphemeral);
  if (made.ok()) return own;
  if (made.code() != ErrorCode::kExists) return made.error();
  CARILLON_TRY(session.Sync(Path(own)));
  const auto node = session.Get(Path(own), false);
  if (!node.ok() && node.code() == ErrorCode::kNotFound) {
    return {ErrorCode::kConflict, own + ": another start of it has just gone"};
  }
  if (!node.ok()) return node.error();
  if (node->owner == session.identity().id) return own;
  return {ErrorCode::kConflict, own + ": another start of it, " + node->data.substr(0, 64) +
                                    ", is there or died a moment ago"};
}

Status ClusterTree::CheckOwn(Session& session, const std::string& own) const {
  const auto node = session.Get(Path(own), false);
  const bool gone =
      node.ok() ? node->owner != session.identity().id : node.code() == ErrorCode::kNotFound;
  if (gone) return {ErrorCode::kNotFound, "coordinator: the own node is gone"};
  return node.ok() ? Status() : node.error();
}

}  // namespace carillon::zookeeper
