#include "common/adapters/zookeeper/zookeeper_coordinator.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/log.h"
#include "common/wire/json/coordination_json.h"

namespace carillon::zookeeper {
namespace {

constexpr std::string_view kDefaultRoot = "/carillon";

Error NoSession() { return {ErrorCode::kUnavailable, "coordinator: no contact or no session"}; }
Error Fenced() { return {ErrorCode::kFenced, "assignment: not the leader any more"}; }

// "a-0000000012" -> 12, the number that the server appended.
std::optional<uint64_t> NumberOf(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || digits.empty()) return std::nullopt;
  return number;
}

// The state that the member reported; nullopt: none, or it is just changing it.
std::optional<bool> PausedOf(const std::vector<std::string>& names,
                             const Incarnation& incarnation) {
  const auto told = [&](bool paused) {
    return std::find(names.begin(), names.end(), ToldName(incarnation, paused)) != names.end();
  };
  if (told(true) == told(false)) return std::nullopt;
  return told(true);
}

bool IsRoot(std::string_view root) {
  return root.size() > 1 && root.back() != '/' && root.find("//") == std::string_view::npos &&
         root.find("/.") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<ZookeeperCoordinator>> ZookeeperCoordinator::Make(
    CoordinatorOptions options) {
  const size_t slash = options.connect.find('/');
  const std::string servers = options.connect.substr(0, slash);
  const std::string root =
      slash == std::string::npos ? std::string(kDefaultRoot) : options.connect.substr(slash);
  if (servers.find(':') == std::string::npos || !IsRoot(root)) {
    return Error{ErrorCode::kInvalid,
                 "zookeeper: \"" + options.connect + "\" is not host:port,host:port/root"};
  }
  return std::unique_ptr<ZookeeperCoordinator>(
      new ZookeeperCoordinator(std::move(options), servers, root));
}

ZookeeperCoordinator::ZookeeperCoordinator(CoordinatorOptions options, std::string servers,
                                           std::string root)
    : options_(std::move(options)),
      servers_(std::move(servers)),
      root_(std::move(root)),
      watcher_([this] { Watch(); }) {}

ZookeeperCoordinator::~ZookeeperCoordinator() {
  Leave();
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

Status ZookeeperCoordinator::Join(const MemberInfo& self) {
  MutexLock join(join_mu_);
  CARILLON_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Connected());
  CARILLON_TRY(MakeTree(*session));
  CARILLON_ASSIGN_OR_RETURN(const std::string name, EnterElection(*session, self));
  const std::string own = "election/" + name;
  {
    MutexLock lock(mu_);
    self_ = self;
    ++joins_;
    own_ = own;
    removed_ = false;
  }
  return ReadView(*session, own);
}

uint64_t ZookeeperCoordinator::Joins() {
  MutexLock lock(mu_);
  return joins_;
}

Status ZookeeperCoordinator::Announce(const ExecutorId& executor, const Incarnation& incarnation) {
  MutexLock join(join_mu_);
  CARILLON_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Connected());
  CARILLON_TRY(MakeTree(*session));
  const std::string own = "executors/" + executor.value();
  CARILLON_TRY(ShowExecutor(*session, own, incarnation));
  {
    MutexLock lock(mu_);
    own_ = own;
    removed_ = false;
  }
  return ReadView(*session, own);
}

// The node may exist although our create failed, if only the response was lost.
Status ZookeeperCoordinator::ShowExecutor(Session& session, const std::string& own,
                                          const Incarnation& incarnation) {
  const auto made = session.Create(Path(own), incarnation.value(), Session::Life::kEphemeral);
  if (made.ok() || made.code() != ErrorCode::kExists) return made.ok() ? Status() : made.error();
  CARILLON_TRY(session.Sync(Path(own)));
  const auto node = session.Get(Path(own), false);
  if (!node.ok() && node.code() == ErrorCode::kNotFound) {
    return {ErrorCode::kConflict, own + ": another start of it has just gone"};
  }
  if (!node.ok()) return node.error();
  if (node->owner == session.identity().id) return {};
  return {ErrorCode::kConflict, own + ": another start of it, " + node->data.substr(0, 64) +
                                    ", is there or died a moment ago"};
}

// The live session, or a new one if it has expired.
Result<std::shared_ptr<Session>> ZookeeperCoordinator::Connected() {
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

Status ZookeeperCoordinator::MakeTree(Session& session) {
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

// A create whose response was lost may have left a node. Its name begins with the incarnation, and
// its owner distinguishes a live node from one about to expire.
Result<std::string> ZookeeperCoordinator::EnterElection(Session& session, const MemberInfo& self) {
  const std::string prefix = self.incarnation.value() + "-";
  const std::string text = MemberText(self);
  CARILLON_TRY(session.Sync(Path("election")));
  CARILLON_ASSIGN_OR_RETURN(const auto names, session.Children(Path("election"), false));
  std::string own;
  for (const std::string& name : names) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const auto node = session.Get(Path("election/" + name), false);
    if (node.ok() && node->owner == session.identity().id && node->data == text && own.empty()) {
      own = name;
      continue;
    }
    const Status deleted = session.Delete(Path("election/" + name));
    if (!deleted.ok() && deleted.code() != ErrorCode::kNotFound) return deleted.error();
  }
  if (!own.empty()) return own;
  CARILLON_ASSIGN_OR_RETURN(
      const std::string path,
      session.Create(Path("election/" + prefix), text, Session::Life::kEphemeralSequence));
  return path.substr(path.rfind('/') + 1);
}

void ZookeeperCoordinator::Leave() {
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
  // The end of the session removes the node as well; this covers a session that outlives the call.
  if (!own.empty() && session->contact() == Session::Contact::kConnected) {
    const Status deleted = session->Delete(Path(own));
    if (!deleted.ok()) log::Warn("coordinator", "leave: {}", deleted.error().message);
  }
}

Result<std::vector<ZookeeperCoordinator::Entry>> ZookeeperCoordinator::ReadEntries(
    Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const auto names, session.Children(Path("election"), true));
  std::map<std::string, MemberInfo> known;
  std::vector<Entry> entries;
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = NumberOf(name);
    if (!number) continue;  // the report of a member, or a foreign node
    auto found = known_.find(name);
    if (found == known_.end()) {
      const auto node = session.Get(Path("election/" + name), false);
      // That member has just left.
      if (!node.ok() && node.code() == ErrorCode::kNotFound) continue;
      if (!node.ok()) return node.error();
      const auto member = ParseMember(node->data);
      if (!member.ok()) {
        log::Warn("coordinator", "{}: {}", name, member.error().message);
        continue;
      }
      found = known_.emplace(name, *member).first;
    }
    known.insert(*found);
    entries.push_back({*number, name, found->second});
    entries.back().member.paused = PausedOf(names, found->second.incarnation);
  }
  known_ = std::move(known);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.number < b.number; });
  return entries;
}

// Reading and adopting happen under one lock, so that the later of two reads wins.
Status ZookeeperCoordinator::ReadView(Session& session, const std::string& own) {
  MutexLock lock(read_mu_);
  // A lagging server must not undo what was read through another one.
  CARILLON_TRY(session.Sync(root_));
  View view;
  CARILLON_ASSIGN_OR_RETURN(view.entries, ReadEntries(session));
  CARILLON_ASSIGN_OR_RETURN(const Node node, session.Get(Path("assignment"), true));
  TakeAssignment(node, view);
  CARILLON_ASSIGN_OR_RETURN(view.settings, ReadConfig(session));
  CARILLON_TRY(CheckOwn(session, own));
  Adopt(session, std::move(view));
  return {};
}

// An unreadable assignment does not prevent joining: the previous one stays, with the new version
// of its node, so that this member neither proves ownership with it nor overwrites the newer one.
void ZookeeperCoordinator::TakeAssignment(const Node& node, View& view) {
  auto assignment = ParseAssignment(node.data);
  if (assignment.ok()) {
    view.assignment = std::move(assignment).value();
    view.version = node.version;
    view.created = node.created;
    return;
  }
  log::Error("coordinator", "the assignment cannot be read, the last one stands: {}",
             assignment.error().message);
  MutexLock lock(mu_);
  view.assignment = view_.assignment;
  view.version = view_.version;
  view.created = view_.created;
}

Status ZookeeperCoordinator::CheckOwn(Session& session, const std::string& own) {
  const auto node = session.Get(Path(own), false);
  const bool gone =
      node.ok() ? node->owner != session.identity().id : node.code() == ErrorCode::kNotFound;
  if (gone) return {ErrorCode::kNotFound, "coordinator: the own node is gone"};
  return node.ok() ? Status() : node.error();
}

void ZookeeperCoordinator::Watch() {
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

void ZookeeperCoordinator::Refresh() {
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

void ZookeeperCoordinator::Adopt(const Session& session, View view) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    if (session_.get() != &session) return;  // this member has left meanwhile
    if (view.created == view_.created && view.version < view_.version) {
      // This member has written a newer one since the read.
      view.assignment = view_.assignment;
      view.version = view_.version;
    }
    if (view == view_) return;
    view_ = std::move(view);
    wake = wake_;
  }
  if (wake) wake();
}

void ZookeeperCoordinator::MarkDirty() {
  {
    MutexLock lock(mu_);
    dirty_ = true;
  }
  changed_.notify_all();
}

SessionState ZookeeperCoordinator::StateNow() const {
  if (!session_) return SessionState::kSuspended;
  if (removed_) return SessionState::kExpired;
  switch (session_->contact()) {
    case Session::Contact::kConnected: return SessionState::kConnected;
    case Session::Contact::kExpired: return SessionState::kExpired;
    case Session::Contact::kConnecting: break;
  }
  return SessionState::kSuspended;
}

SessionState ZookeeperCoordinator::State() {
  MutexLock lock(mu_);
  return StateNow();
}

bool ZookeeperCoordinator::IsLeader() {
  MutexLock lock(mu_);
  return !own_.empty() && StateNow() != SessionState::kExpired && !view_.entries.empty() &&
         "election/" + view_.entries.front().name == own_;
}

std::optional<MemberId> ZookeeperCoordinator::Leader() {
  MutexLock lock(mu_);
  if (view_.entries.empty()) return std::nullopt;
  return view_.entries.front().member.id;
}

std::vector<MemberInfo> ZookeeperCoordinator::Members() {
  MutexLock lock(mu_);
  std::vector<MemberInfo> members;
  for (const Entry& entry : view_.entries) members.push_back(entry.member);
  return members;
}

Result<Assignment> ZookeeperCoordinator::ReadAssignment() {
  MutexLock lock(mu_);
  if (StateNow() != SessionState::kConnected) return NoSession();
  return view_.assignment;
}

Result<ZookeeperCoordinator::Standing> ZookeeperCoordinator::OwnStanding() {
  MutexLock lock(mu_);
  if (own_.empty() || !self_ || StateNow() != SessionState::kConnected) return NoSession();
  return Standing{
      .session = session_,
      .own_path = Path(own_),
      .own_text = MemberText(*self_),
      .incarnation = self_->incarnation,
      .leads = !view_.entries.empty() && "election/" + view_.entries.front().name == own_,
      .view = view_};
}

// Numbers only grow: a member that once had the lowest number stays the lowest while its
// node exists.
Status ZookeeperCoordinator::WriteAssignment(const Assignment& assignment) {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, OwnStanding());
  if (!standing.leads) return Fenced();
  const View& view = standing.view;
  const uint64_t stored = view.assignment.generation.value();
  if (assignment.generation.value() != stored + 1) {
    return {ErrorCode::kConflict,
            "assignment: generation " + std::to_string(stored) + " is stored"};
  }
  int failed = -1;
  const Status written =
      standing.session->Commit({{.kind = Op::Kind::kCheck, .path = standing.own_path},
                                {.kind = Op::Kind::kSet,
                                 .path = Path("assignment"),
                                 .version = view.version,
                                 .data = AssignmentText(assignment)}},
                               options_.proof_limit, &failed);
  if (!written.ok()) {
    MarkDirty();
    return failed == 0 ? Status(Fenced()) : written;
  }
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    if (view_.created != view.created || view_.version != view.version) return {};
    view_.assignment = assignment;
    ++view_.version;
    wake = wake_;
  }
  if (wake) wake();
  return {};
}

Result<ClusterSettings> ZookeeperCoordinator::ReadSettings() {
  MutexLock lock(mu_);
  if (StateNow() != SessionState::kConnected) return NoSession();
  return view_.settings;
}

Result<Generation> ZookeeperCoordinator::ProveSession() {
  CARILLON_ASSIGN_OR_RETURN(const Standing standing, OwnStanding());
  int failed = -1;
  const Status written = standing.session->Commit(
      {{.kind = Op::Kind::kCheck, .path = Path("assignment"), .version = standing.view.version},
       {.kind = Op::Kind::kSet, .path = standing.own_path, .data = standing.own_text}},
      options_.proof_limit, &failed);
  if (!written.ok()) {
    MarkDirty();  // another assignment was written, or the own node is gone
    return written.error();
  }
  return standing.view.assignment.generation;
}

void ZookeeperCoordinator::OnChange(std::function<void()> wake) {
  MutexLock lock(mu_);
  wake_ = std::move(wake);
}

std::optional<SessionIdentity> ZookeeperCoordinator::session_identity() {
  MutexLock lock(mu_);
  if (!session_) return std::nullopt;
  return session_->identity();
}

std::optional<Incarnation> ZookeeperCoordinator::incarnation() {
  MutexLock lock(mu_);
  if (!self_) return std::nullopt;
  return self_->incarnation;
}

}  // namespace carillon::zookeeper
