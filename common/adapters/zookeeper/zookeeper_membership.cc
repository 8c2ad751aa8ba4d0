#include "common/adapters/zookeeper/zookeeper_membership.h"

#include <string_view>
#include <utility>

#include "common/base/log.h"
#include "common/wire/json/coordination_json.h"

namespace carillon::zookeeper {
namespace {

constexpr std::string_view kDefaultRoot = "/carillon";

Error NoSession() { return {ErrorCode::kUnavailable, "coordinator: no contact or no session"}; }

bool IsRoot(std::string_view root) {
  return root.size() > 1 && root.back() != '/' && root.find("//") == std::string_view::npos &&
         root.find("/.") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<ZookeeperMembership>> ZookeeperMembership::Make(
    const CoordinatorOptions& options) {
  const size_t slash = options.connect.find('/');
  const std::string servers = options.connect.substr(0, slash);
  const std::string root =
      slash == std::string::npos ? std::string(kDefaultRoot) : options.connect.substr(slash);
  if (servers.find(':') == std::string::npos || !IsRoot(root)) {
    return Error{ErrorCode::kInvalid,
                 "zookeeper: \"" + options.connect + "\" is not host:port,host:port/root"};
  }
  return std::unique_ptr<ZookeeperMembership>(new ZookeeperMembership(options, servers, root));
}

ZookeeperMembership::ZookeeperMembership(const CoordinatorOptions& options, std::string servers,
                                         std::string root)
    : options_(options),
      servers_(std::move(servers)),
      tree_(std::move(root)),
      reader_(tree_),
      watcher_([this] { Watch(); }) {}

ZookeeperMembership::~ZookeeperMembership() {
  Leave();
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

Status ZookeeperMembership::Join(const MemberInfo& self) {
  MutexLock join(join_mu_);
  CARILLON_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Connected());
  CARILLON_TRY(tree_.Make(*session));
  CARILLON_ASSIGN_OR_RETURN(const std::string own, tree_.EnterElection(*session, self));
  {
    MutexLock lock(mu_);
    self_ = self;
    ++joins_;
    own_ = own;
    removed_ = false;
  }
  return ReadView(*session, own);
}

Status ZookeeperMembership::Announce(const ExecutorId& executor, const Incarnation& incarnation) {
  MutexLock join(join_mu_);
  CARILLON_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Connected());
  CARILLON_TRY(tree_.Make(*session));
  CARILLON_ASSIGN_OR_RETURN(const std::string own,
                            tree_.ShowExecutor(*session, executor, incarnation));
  {
    MutexLock lock(mu_);
    own_ = own;
    removed_ = false;
  }
  return ReadView(*session, own);
}

// Returns the live session, or a new one if there is none or it has expired.
Result<std::shared_ptr<Session>> ZookeeperMembership::Connected() {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(mu_);
    own_.clear();
    if (session_ && session_->contact() == Session::Contact::kExpired) {
      session = std::exchange(session_, nullptr);  // closed below, without the lock
    }
  }
  session.reset();
  {
    MutexLock lock(mu_);
    session = session_;
  }
  if (!session) {
    CARILLON_ASSIGN_OR_RETURN(session, Session::Open({.servers = servers_,
                                                      .timeout = options_.session_timeout,
                                                      .digest = options_.digest,
                                                      .request_timeout = options_.session_timeout},
                                                     [this] { MarkDirty(); }));
    MutexLock lock(mu_);
    session_ = session;
  }
  if (!session->AwaitConnected(options_.session_timeout)) return NoSession();
  return session;
}

void ZookeeperMembership::Leave() {
  MutexLock join(join_mu_);
  std::shared_ptr<Session> session;
  std::string own;
  {
    MutexLock lock(mu_);
    own = std::exchange(own_, {});
    session = std::exchange(session_, nullptr);
    self_.reset();
    removed_ = false;
  }
  if (!session) return;
  // The end of the session removes the node too. But if another thread still uses the session, the
  // session outlives this call. So the node is deleted explicitly.
  if (!own.empty() && session->contact() == Session::Contact::kConnected) {
    const Status deleted = session->Delete(tree_.Path(own));
    if (!deleted.ok()) log::Warn("coordinator", "leave: {}", deleted.error().message);
  }
}

// Reading and adopting happen under one lock, so that the later of two reads wins.
Status ZookeeperMembership::ReadView(Session& session, const std::string& own) {
  MutexLock lock(read_mu_);
  CARILLON_ASSIGN_OR_RETURN(ViewReader::Reading reading, reader_.Read(session));
  CARILLON_TRY(tree_.CheckOwn(session, own));
  Adopt(session, std::move(reading));
  return {};
}

void ZookeeperMembership::Watch() {
  std::optional<SessionState> told;
  for (;;) {
    std::function<void()> wake;
    {
      MutexLock lock(mu_);
      changed_.wait_for(mu_, options_.session_timeout,
                        [this]() REQUIRES(mu_) { return dirty_ || stopping_; });
      if (stopping_) return;
      dirty_ = false;
      const SessionState state = StateNow();
      if (told != state) wake = wake_;
      told = state;
    }
    if (wake) wake();
    Refresh();
  }
}

void ZookeeperMembership::Refresh() {
  std::shared_ptr<Session> session;
  std::string own;
  {
    MutexLock lock(mu_);
    session = session_;
    own = own_;
  }
  if (!session || own.empty() || session->contact() != Session::Contact::kConnected) return;
  const Status read = ReadView(*session, own);
  if (read.ok()) return;
  if (read.code() != ErrorCode::kNotFound) {
    log::Warn("coordinator", "{}", read.error().message);
    return;  // read again on the next event or timeout
  }
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    if (own_ != own) return;
    log::Error("coordinator", "{}: rejoining", read.error().message);
    removed_ = true;
    wake = wake_;
  }
  if (wake) wake();
}

// An unreadable assignment does not prevent joining. The previous assignment stays, with its old
// version. With the old version this member cannot prove ownership,
// and cannot overwrite the newer assignment.
void ZookeeperMembership::Adopt(const Session& session, ViewReader::Reading reading) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    if (session_.get() != &session) return;  // this member has left meanwhile
    ClusterView& view = reading.view;
    // `older`: this member has written a newer assignment since the read.
    const bool older = view.created == view_.created && view.version < view_.version;
    if (!reading.has_assignment || older) view.TakeAssignment(view_);
    if (view == view_) return;
    view_ = std::move(view);
    wake = wake_;
  }
  if (wake) wake();
}

void ZookeeperMembership::AdoptWritten(const Assignment& assignment, const ClusterView& before) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    if (view_.created != before.created || view_.version != before.version) return;
    view_.assignment = assignment;
    ++view_.version;
    wake = wake_;
  }
  if (wake) wake();
}

void ZookeeperMembership::MarkDirty() {
  {
    MutexLock lock(mu_);
    dirty_ = true;
  }
  changed_.notify_all();
}

SessionState ZookeeperMembership::StateNow() const {
  if (!session_) return SessionState::kSuspended;
  if (removed_) return SessionState::kExpired;
  switch (session_->contact()) {
    case Session::Contact::kConnected: return SessionState::kConnected;
    case Session::Contact::kExpired: return SessionState::kExpired;
    case Session::Contact::kConnecting: break;
  }
  return SessionState::kSuspended;
}

uint64_t ZookeeperMembership::Joins() {
  MutexLock lock(mu_);
  return joins_;
}

SessionState ZookeeperMembership::State() {
  MutexLock lock(mu_);
  return StateNow();
}

void ZookeeperMembership::OnChange(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

bool ZookeeperMembership::IsLeader() {
  MutexLock lock(mu_);
  return !own_.empty() && StateNow() != SessionState::kExpired && view_.LedBy(own_);
}

std::optional<MemberId> ZookeeperMembership::Leader() {
  MutexLock lock(mu_);
  if (view_.entries.empty()) return std::nullopt;
  return view_.entries.front().member.id;
}

std::vector<MemberInfo> ZookeeperMembership::Members() {
  MutexLock lock(mu_);
  std::vector<MemberInfo> members;
  for (const ClusterView::Entry& entry : view_.entries) members.push_back(entry.member);
  return members;
}

Result<Assignment> ZookeeperMembership::LastAssignment() {
  MutexLock lock(mu_);
  if (StateNow() != SessionState::kConnected) return NoSession();
  return view_.assignment;
}

Result<ClusterSettings> ZookeeperMembership::LastSettings() {
  MutexLock lock(mu_);
  if (StateNow() != SessionState::kConnected) return NoSession();
  return view_.settings;
}

Result<ZookeeperMembership::Standing> ZookeeperMembership::OwnStanding() {
  MutexLock lock(mu_);
  if (own_.empty() || !self_ || StateNow() != SessionState::kConnected) return NoSession();
  return Standing{.session = session_,
                  .own_path = tree_.Path(own_),
                  .own_text = MemberText(*self_),
                  .incarnation = self_->incarnation,
                  .leads = view_.LedBy(own_),
                  .view = view_};
}

std::optional<SessionIdentity> ZookeeperMembership::session_identity() {
  MutexLock lock(mu_);
  if (!session_) return std::nullopt;
  return session_->identity();
}

std::optional<Incarnation> ZookeeperMembership::incarnation() {
  MutexLock lock(mu_);
  if (!self_) return std::nullopt;
  return self_->incarnation;
}

}  // namespace carillon::zookeeper
