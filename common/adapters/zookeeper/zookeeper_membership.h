// Presence in a cluster on a ZooKeeper ensemble, as a member or as an executor: the session, this
// process's own node, and a view of the cluster that is kept up to date.
//
// Place    Under zookeeper_coordinator (members) and zookeeper_directory (executors).
// Threads  Thread-safe. A thread of its own maintains the view: it reads after each watch event
//          and, in case an event was lost, once per session timeout.
// Time     Join and Announce block up to a session timeout. Reads of the view do not wait.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/adapters/zookeeper/cluster_tree.h"
#include "common/adapters/zookeeper/cluster_view.h"
#include "common/adapters/zookeeper/zookeeper_session.h"
#include "common/base/mutex.h"
#include "common/ports/coordinator.h"

namespace carillon::zookeeper {

struct CoordinatorOptions {
  std::string connect;  // "host:port,host:port/root"; default root: /carillon
  Duration session_timeout = 6s;
  std::string digest = {};    // "user:password"; empty = open ACLs
  Duration proof_limit = 1s;  // limit of a write; a later proof is useless
};

class ZookeeperMembership {
 public:
  // Does not connect; Join and Announce do. kInvalid: no server, or an invalid root.
  static Result<std::unique_ptr<ZookeeperMembership>> Make(const CoordinatorOptions& options);
  ~ZookeeperMembership();
  ZookeeperMembership(const ZookeeperMembership&) = delete;
  ZookeeperMembership& operator=(const ZookeeperMembership&) = delete;

  // As a member: see Coordinator::Join.
  Status Join(const MemberInfo& self);
  // As an executor: see MemberDirectory::Announce.
  Status Announce(const ExecutorId& executor, const Incarnation& incarnation);
  void Leave();
  uint64_t Joins();
  SessionState State();
  void OnChange(std::function<void()> wake);

  // ---- the view; see Coordinator
  bool IsLeader();
  std::optional<MemberId> Leader();
  std::vector<MemberInfo> Members();
  Result<Assignment> LastAssignment();
  Result<ClusterSettings> LastSettings();

  // ---- for writes
  // A consistent copy of the data that a write needs.
  struct Standing {
    std::shared_ptr<Session> session;
    std::string own_path;
    std::string own_text;
    Incarnation incarnation;
    bool leads = false;
    ClusterView view;
  };
  // kUnavailable: not a member, or no contact.
  Result<Standing> OwnStanding();
  const ClusterTree& tree() const { return tree_; }
  // Makes the thread read the view again, because the view is out of date.
  void MarkDirty();
  // Adopts `assignment`, which was written in place of the assignment in `before`.
  void AdoptWritten(const Assignment& assignment, const ClusterView& before);

  // Both belong to the current presence, and are empty before Join or Announce.
  std::optional<SessionIdentity> session_identity();
  std::optional<Incarnation> incarnation();

 private:
  ZookeeperMembership(const CoordinatorOptions& options, std::string servers, std::string root);
  Result<std::shared_ptr<Session>> Connected();
  // Reads and adopts the whole view. `own` is this process's node. kNotFound: that node is gone.
  Status ReadView(Session& session, const std::string& own);
  void Watch();  // runs on watcher_
  void Refresh();
  void Adopt(const Session& session, ViewReader::Reading reading);
  SessionState StateNow() const REQUIRES(mu_);

  const CoordinatorOptions options_;
  const std::string servers_;
  const ClusterTree tree_;

  Mutex join_mu_;  // one Join or Leave at a time; never taken while mu_ is held
  Mutex read_mu_;  // one read of the view at a time
  ViewReader reader_ GUARDED_BY(read_mu_);

  Mutex mu_;
  std::condition_variable_any changed_;
  std::shared_ptr<Session> session_ GUARDED_BY(mu_);
  std::optional<MemberInfo> self_ GUARDED_BY(mu_);
  uint64_t joins_ GUARDED_BY(mu_) = 0;
  std::string own_ GUARDED_BY(mu_);       // "election/…" or "executors/…"; empty = not joined
  bool removed_ GUARDED_BY(mu_) = false;  // the node `own_` is gone although the session lives
  ClusterView view_ GUARDED_BY(mu_);
  std::function<void()> wake_ GUARDED_BY(mu_);
  bool dirty_ GUARDED_BY(mu_) = false;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread watcher_;
};

}  // namespace carillon::zookeeper
