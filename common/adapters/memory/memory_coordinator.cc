#include "common/adapters/memory/memory_coordinator.h"

#include <algorithm>
#include <utility>

namespace carillon::memory {
namespace {

void CallAll(const std::vector<std::function<void()>>& wakes) {
  for (const auto& wake : wakes) wake();
}

Error NoSession() { return {ErrorCode::kUnavailable, "coordinator: no contact or no session"}; }

}  // namespace

class MemoryCoordinator final : public Coordinator {
 public:
  explicit MemoryCoordinator(MemoryEnsemble& ensemble) : ensemble_(ensemble) {
    MutexLock lock(ensemble_.mu_);
    id_ = ++ensemble_.last_client_;
    ensemble_.clients_[id_] = {};
  }
  ~MemoryCoordinator() override {
    Leave();
    MutexLock lock(ensemble_.mu_);
    ensemble_.clients_.erase(id_);
  }

  Status Join(const MemberInfo& self) override;
  void Leave() override;
  uint64_t Joins() override;
  SessionState State() override;
  bool IsLeader() override;
  std::optional<MemberId> Leader() override;
  std::vector<MemberInfo> Members() override;
  Status AnnouncePaused(bool paused) override;
  Result<Assignment> ReadAssignment() override;
  Status WriteAssignment(const Assignment& assignment) override;
  Result<ClusterSettings> ReadSettings() override;
  Status WriteSettings(const ClusterSettings& settings) override;
  Result<Generation> ProveSession() override;
  Result<std::optional<StoreTrust>> ReadTrust() override;
  Status WriteTrust(const StoreTrust& trust, const std::optional<StoreTrust>& instead_of) override;
  void OnChange(std::function<void()> wake) override;

 private:
  MemoryEnsemble::Client& Self() REQUIRES(ensemble_.mu_) { return ensemble_.clients_.at(id_); }

  MemoryEnsemble& ensemble_;
  uint64_t id_ = 0;
};

Status MemoryCoordinator::Join(const MemberInfo& self) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(ensemble_.mu_);
    MemoryEnsemble::Client& client = Self();
    if (client.suspended) return NoSession();
    if (client.self) ensemble_.RemoveMember(client.self->incarnation);
    client.self = self;
    client.incarnation = self.incarnation;
    client.expired = false;
    ++client.joins;
    ensemble_.now_.members.push_back(self);
    ensemble_.now_.members.back().paused.reset();
    wakes = ensemble_.Wakes();
  }
  CallAll(wakes);
  return {};
}

uint64_t MemoryCoordinator::Joins() {
  MutexLock lock(ensemble_.mu_);
  return Self().joins;
}

void MemoryCoordinator::Leave() {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(ensemble_.mu_);
    MemoryEnsemble::Client& client = Self();
    if (!client.self) return;
    ensemble_.RemoveMember(client.self->incarnation);
    client.self.reset();
    wakes = ensemble_.Wakes();
  }
  CallAll(wakes);
}

SessionState MemoryCoordinator::State() {
  MutexLock lock(ensemble_.mu_);
  const MemoryEnsemble::Client& client = Self();
  if (client.suspended) return SessionState::kSuspended;
  return client.expired ? SessionState::kExpired : SessionState::kConnected;
}

bool MemoryCoordinator::IsLeader() {
  MutexLock lock(ensemble_.mu_);
  return ensemble_.Leads(Self());
}

std::optional<MemberId> MemoryCoordinator::Leader() {
  MutexLock lock(ensemble_.mu_);
  const MemoryEnsemble::View& view = ensemble_.ViewOf(Self());
  if (view.members.empty()) return std::nullopt;
  return view.members.front().id;
}

std::vector<MemberInfo> MemoryCoordinator::Members() {
  MutexLock lock(ensemble_.mu_);
  return ensemble_.ViewOf(Self()).members;
}

Status MemoryCoordinator::AnnouncePaused(bool paused) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(ensemble_.mu_);
    const MemoryEnsemble::Client& client = Self();
    if (!ensemble_.HasSession(client)) return NoSession();
    for (MemberInfo& member : ensemble_.now_.members) {
      if (member.incarnation == client.incarnation) member.paused = paused;
    }
    wakes = ensemble_.Wakes();
  }
  CallAll(wakes);
  return {};
}

Result<Assignment> MemoryCoordinator::ReadAssignment() {
  MutexLock lock(ensemble_.mu_);
  if (Self().suspended) return NoSession();
  return ensemble_.now_.assignment;
}

Status MemoryCoordinator::WriteAssignment(const Assignment& assignment) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(ensemble_.mu_);
    const MemoryEnsemble::Client& client = Self();
    if (client.suspended) return NoSession();
    if (!ensemble_.HasSession(client) || !ensemble_.Leads(client)) {
      return {ErrorCode::kFenced, "assignment: not the leader any more"};
    }
    const Generation stored = ensemble_.now_.assignment.generation;
    if (assignment.generation.value() != stored.value() + 1) {
      return {ErrorCode::kConflict,
              "assignment: generation " + std::to_string(stored.value()) + " is stored"};
    }
    ensemble_.now_.assignment = assignment;
    wakes = ensemble_.Wakes();
  }
  CallAll(wakes);
  return {};
}

Result<ClusterSettings> MemoryCoordinator::ReadSettings() {
  MutexLock lock(ensemble_.mu_);
  if (Self().suspended) return NoSession();
  return ensemble_.now_.settings;
}

Status MemoryCoordinator::WriteSettings(const ClusterSettings& settings) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(ensemble_.mu_);
    if (!ensemble_.HasSession(Self())) return NoSession();
    if (ensemble_.now_.settings.version >= settings.version) return {};
    ensemble_.now_.settings = settings;
    wakes = ensemble_.Wakes();
  }
  CallAll(wakes);
  return {};
}

Result<Generation> MemoryCoordinator::ProveSession() {
  MutexLock lock(ensemble_.mu_);
  if (!ensemble_.HasSession(Self())) return NoSession();
  return ensemble_.now_.assignment.generation;
}

Result<std::optional<StoreTrust>> MemoryCoordinator::ReadTrust() {
  MutexLock lock(ensemble_.mu_);
  if (!ensemble_.HasSession(Self())) return NoSession();
  return ensemble_.trust_;
}

Status MemoryCoordinator::WriteTrust(const StoreTrust& trust,
                                     const std::optional<StoreTrust>& instead_of) {
  MutexLock lock(ensemble_.mu_);
  if (!ensemble_.HasSession(Self())) return NoSession();
  if (ensemble_.trust_ != instead_of) {
    return {ErrorCode::kConflict, "trust: somebody wrote another record"};
  }
  ensemble_.trust_ = trust;
  return {};
}

void MemoryCoordinator::OnChange(std::function<void()> wake) {
  MutexLock lock(ensemble_.mu_);
  Self().wake = std::move(wake);
}

std::unique_ptr<Coordinator> MemoryEnsemble::NewClient() {
  return std::make_unique<MemoryCoordinator>(*this);
}

MemoryEnsemble::Client* MemoryEnsemble::FindClient(const Incarnation& incarnation) {
  for (auto& [id, client] : clients_) {
    if (client.incarnation == incarnation) return &client;
  }
  return nullptr;
}

const MemoryEnsemble::View& MemoryEnsemble::ViewOf(const Client& client) const {
  return client.suspended ? client.last : now_;
}

bool MemoryEnsemble::Leads(const Client& client) const {
  const View& view = ViewOf(client);
  return client.self && !client.expired && !view.members.empty() &&
         view.members.front().incarnation == client.self->incarnation;
}

bool MemoryEnsemble::HasSession(const Client& client) const {
  return client.self && !client.suspended && !client.expired;
}

void MemoryEnsemble::RemoveMember(const Incarnation& incarnation) {
  std::erase_if(now_.members, [&incarnation](const MemberInfo& member) {
    return member.incarnation == incarnation;
  });
  std::erase_if(executors_,
                [&incarnation](const auto& shown) { return shown.second == incarnation; });
}

Status MemoryEnsemble::Announce(const ExecutorId& executor, const Incarnation& incarnation) {
  MutexLock lock(mu_);
  const auto [found, added] = executors_.emplace(executor, incarnation);
  if (added || found->second == incarnation) return {};
  return {ErrorCode::kConflict, "executors/" + executor.value() + ": another start of it is there"};
}

bool MemoryEnsemble::IsShown(const Incarnation& incarnation) const {
  MutexLock lock(mu_);
  for (const auto& [executor, shown] : executors_) {
    if (shown == incarnation) return true;
  }
  return false;
}

std::vector<std::function<void()>> MemoryEnsemble::Wakes() {
  std::vector<std::function<void()>> wakes;
  for (const auto& [id, client] : clients_) {
    if (client.wake && !client.suspended) wakes.push_back(client.wake);
  }
  return wakes;
}

void MemoryEnsemble::Suspend(const Incarnation& incarnation) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    Client* client = FindClient(incarnation);
    if (client == nullptr || client->suspended) return;
    client->last = now_;
    client->suspended = true;
    wake = client->wake;
  }
  if (wake) wake();
}

void MemoryEnsemble::Restore(const Incarnation& incarnation) {
  std::function<void()> wake;
  {
    MutexLock lock(mu_);
    Client* client = FindClient(incarnation);
    if (client == nullptr || !client->suspended) return;
    client->suspended = false;
    wake = client->wake;
  }
  if (wake) wake();
}

void MemoryEnsemble::Expire(const Incarnation& incarnation) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(mu_);
    Client* client = FindClient(incarnation);
    if (client != nullptr) client->expired = true;
    RemoveMember(incarnation);
    wakes = Wakes();
  }
  CallAll(wakes);
}

void MemoryEnsemble::Abandon(const Incarnation& incarnation) {
  MutexLock lock(mu_);
  Client* client = FindClient(incarnation);
  if (client != nullptr) client->self.reset();
}

Assignment MemoryEnsemble::assignment() const {
  MutexLock lock(mu_);
  return now_.assignment;
}

std::optional<StoreTrust> MemoryEnsemble::trust() const {
  MutexLock lock(mu_);
  return trust_;
}

void MemoryEnsemble::ForgetTrust() {
  MutexLock lock(mu_);
  trust_.reset();
}

}  // namespace carillon::memory
