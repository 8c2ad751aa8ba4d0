// Election, membership, assignment and settings on a ZooKeeper ensemble.
//
//   ROOT/election/<incarnation>-<number>   ephemeral: a member; the lowest number leads
//   ROOT/election/<incarnation>-paused     ephemeral: that member applies the pause; or -running.
//                                          The information is in the name, so that one listing
//                                          returns it for all members
//   ROOT/assignment                        the intended owner of each segment, and the generation
//   ROOT/config                            a copy of the store's settings
//   ROOT/store                             the trusted store; read on demand, not watched, because
//                                          it changes every few seconds and executors do not need it
//
// Place    Every member of a cluster; its in-memory counterpart is memory_coordinator.
// Threads  Thread-safe. A thread of its own maintains the view: it reads after each watch event
//          and, in case one was lost, once per session timeout.
// Time     Join blocks up to a session timeout, the writes up to `proof_limit`.
// Always   Ownership is never inferred from what was read, which may be stale, but only from a
//          write of the own session that the quorum accepted.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/adapters/zookeeper/zookeeper_session.h"
#include "common/base/mutex.h"
#include "common/ports/coordinator.h"

namespace carillon::zookeeper {

struct CoordinatorOptions {
  std::string connect;  // "host:port,host:port/root"; default root: /carillon
  Duration session_timeout = 6s;
  std::string digest = {};    // "user:password"; empty = open ACLs
  Duration proof_limit = 1s;  // an older proof of ownership would be useless
};

class ZookeeperCoordinator final : public Coordinator {
 public:
  // Does not connect; Join does. kInvalid: no server, or an invalid root.
  static Result<std::unique_ptr<ZookeeperCoordinator>> Make(CoordinatorOptions options);
  ~ZookeeperCoordinator() override;

  Status Join(const MemberInfo& self) override;
  // Instead of Join: observes the members without being one (zookeeper_directory.h).
  Status Announce(const ExecutorId& executor, const Incarnation& incarnation);
  void Leave() override;
  uint64_t Joins() override;
  SessionState State() override;
  bool IsLeader() override;
  std::optional<MemberId> Leader() override;
  std::vector<MemberInfo> Members() override;
  Status TellPaused(bool paused) override;
  Result<Assignment> ReadAssignment() override;
  Status WriteAssignment(const Assignment& assignment) override;
  Result<ClusterSettings> ReadSettings() override;
  Status WriteSettings(const ClusterSettings& settings) override;
  Result<Generation> ProveSession() override;
  Result<std::optional<StoreTrust>> ReadTrust() override;
  Status WriteTrust(const StoreTrust& trust, const std::optional<StoreTrust>& instead_of) override;
  void OnChange(std::function<void()> wake) override;

  // Of the current membership; empty before Join.
  std::optional<SessionIdentity> session_identity();
  std::optional<Incarnation> incarnation();

 private:
  struct Entry {
    uint64_t number = 0;  // order of joining
    std::string name;     // of the node
    MemberInfo member;

    bool operator==(const Entry&) const = default;
  };
  struct View {
    std::vector<Entry> entries;  // in order of joining
    Assignment assignment;
    int32_t version = 0;  // of the assignment's node
    int64_t created = 0;  // zxid that created that node
    ClusterSettings settings;

    bool operator==(const View&) const = default;
  };
  // A consistent copy of what a write needs.
  struct Standing {
    std::shared_ptr<Session> session;
    std::string own_path;
    std::string own_text;
    Incarnation incarnation;
    bool leads = false;
    View view;
  };

  ZookeeperCoordinator(CoordinatorOptions options, std::string servers, std::string root);
  Result<std::shared_ptr<Session>> Connected();
  Status MakeTree(Session& session);
  Result<std::string> EnterElection(Session& session, const MemberInfo& self);
  Status ShowExecutor(Session& session, const std::string& own, const Incarnation& incarnation);
  // Reads the members, the assignment and the settings, and adopts them. `own` is the path of this
  // member's node; kNotFound if it is gone.
  Status ReadView(Session& session, const std::string& own);
  void TakeAssignment(const Node& node, View& view);
  Status CheckOwn(Session& session, const std::string& own);
  Result<std::vector<Entry>> ReadEntries(Session& session) REQUIRES(read_mu_);
  Result<ClusterSettings> ReadConfig(Session& session);
  void Watch();  // runs on the thread
  void Refresh();
  void Adopt(const Session& session, View view);
  void MarkDirty();
  Result<Standing> OwnStanding();
  SessionState StateNow() const REQUIRES(mu_);

  std::string Path(std::string_view name) const { return root_ + "/" + std::string(name); }

  const CoordinatorOptions options_;
  const std::string servers_;
  const std::string root_;

  Mutex join_mu_;  // one Join or Leave at a time; never taken while mu_ is held
  Mutex read_mu_;  // one read of the view at a time
  std::map<std::string, MemberInfo> known_ GUARDED_BY(read_mu_);  // nodes never change

  Mutex mu_;
  std::condition_variable_any changed_;
  std::shared_ptr<Session> session_ GUARDED_BY(mu_);
  std::optional<MemberInfo> self_ GUARDED_BY(mu_);
  uint64_t joins_ GUARDED_BY(mu_) = 0;
  std::string own_ GUARDED_BY(mu_);       // "election/…" or "executors/…"; empty = not joined
  bool removed_ GUARDED_BY(mu_) = false;  // the own node is gone although the session lives
  View view_ GUARDED_BY(mu_);
  std::function<void()> wake_ GUARDED_BY(mu_);
  bool dirty_ GUARDED_BY(mu_) = false;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread watcher_;
};

}  // namespace carillon::zookeeper
