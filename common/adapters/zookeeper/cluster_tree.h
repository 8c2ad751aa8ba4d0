// The nodes of a cluster on a ZooKeeper ensemble: their paths,
// and the creation of a process's own node.
//
//   ROOT/election/<incarnation>-<number>   ephemeral: a member; the lowest number leads
//   ROOT/election/<incarnation>-paused     ephemeral: that member applies the pause of the cluster;
//                                          -running: it does not. The state is part of the name, so
//                                          that one listing returns the states of all members
//   ROOT/executors/<executor>              ephemeral: the incarnation of its daemon
//   ROOT/assignment                        the intended owner of each segment, and the generation
//   ROOT/config                            a copy of the store's settings
//   ROOT/store                             the trusted store; read on demand, not watched, because
//                                          it changes every few seconds and executors do not need
//                                          it
//
// Threads  Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/adapters/zookeeper/zookeeper_session.h"
#include "common/ports/coordinator.h"

namespace carillon::zookeeper {

class ClusterTree {
 public:
  explicit ClusterTree(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string Path(std::string_view name) const { return root_ + "/" + std::string(name); }

  // Creates the permanent nodes that are missing.
  Status Make(Session& session) const;
  // EnterElection and ShowExecutor return the name of the caller's node: "election/…" or
  // "executors/…". If the node does not exist, they create it.
  Result<std::string> EnterElection(Session& session, const MemberInfo& self) const;
  // kConflict: another process of the same executor has the node.
  Result<std::string> ShowExecutor(Session& session, const ExecutorId& executor,
                                   const Incarnation& incarnation) const;
  // kNotFound: the node is gone, or belongs to another session.
  Status CheckOwn(Session& session, const std::string& own) const;

 private:
  const std::string root_;
};

}  // namespace carillon::zookeeper
