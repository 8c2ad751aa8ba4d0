// Election, membership, assignment and settings inside one process.
//
// Place    Standalone, with its one member; the simulator, with many members whose sessions it
//          suspends and expires.
// Threads  Thread-safe. The ensemble outlives its coordinators.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/coordinator.h"

namespace carillon::memory {

class MemoryEnsemble {
 public:
  // Returns a client of the ensemble. It is not a member until Join.
  std::unique_ptr<Coordinator> NewClient();

  // ---- for executors (memory_directory.h) ----
  Status Announce(const ExecutorId& executor, const Incarnation& incarnation);
  bool IsShown(const Incarnation& incarnation) const;

  // ---- for tests: effects of network and server failures on the session of a process ----
  // The client loses contact and answers from its last view.
  // Its session lives until Expire is called.
  void Suspend(const Incarnation& incarnation);
  // The client has contact again. If its session expired meanwhile, the client sees the expiry now.
  void Restore(const Incarnation& incarnation);
  // The server forgets the session. The member and election nodes of the session are gone.
  void Expire(const Incarnation& incarnation);
  // The process died. Its nodes stay until Expire is called for its session.
  void Abandon(const Incarnation& incarnation);
  // The values that every connected client would read.
  Assignment assignment() const;
  std::optional<StoreTrust> trust() const;
  // Clears the trust, as if the ensemble had been set up again; the members stay.
  void ForgetTrust();

 private:
  friend class MemoryCoordinator;

  struct View {
    std::vector<MemberInfo> members;  // in order of joining; the first one leads
    Assignment assignment;
    ClusterSettings settings;
  };
  struct Client {
    std::optional<MemberInfo> self;
    Incarnation incarnation;  // of the last Join; identifies the client
    uint64_t joins = 0;
    bool suspended = false;
    bool expired = false;
    View last;  // the client's view before it was suspended
    std::function<void()> wake;
  };

  Client* FindClient(const Incarnation& incarnation) REQUIRES(mu_);
  const View& ViewOf(const Client& client) const REQUIRES(mu_);
  bool Leads(const Client& client) const REQUIRES(mu_);
  bool HasSession(const Client& client) const REQUIRES(mu_);
  void RemoveMember(const Incarnation& incarnation) REQUIRES(mu_);
  std::vector<std::function<void()>> Wakes() REQUIRES(mu_);

  mutable Mutex mu_;
  uint64_t last_client_ GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Client> clients_ GUARDED_BY(mu_);
  View now_ GUARDED_BY(mu_);
  std::optional<StoreTrust> trust_ GUARDED_BY(mu_);
  std::map<ExecutorId, Incarnation> executors_ GUARDED_BY(mu_);
};

}  // namespace carillon::memory
