// A bounded set of connections, and the means to end those that the server still keeps for us.
//
// Each connection holds a named lock of the server for its whole life
// ("carillon.<process>.<slot>"). IS_USED_LOCK tells the connection id behind a name, so that a new
// owner of a segment can KILL the connections of the old one (whose process may be frozen in the
// middle of a transaction), and a slot that reconnects ends its own predecessor first. Ids alone
// would not do: they start over when the server does, and would name somebody else.
//
// A pool behind a gate shares the connections of another one, and lends only such as the gate has
// admitted: a server can only be exchanged by breaking connections, so what was opened anew is
// looked at before anything is done on it.
//
// Threads  Thread-safe. Acquire waits for a free slot for `wait` at most.
// Errors   kUnavailable: no connection to be had, or the gate is closed; nothing was done.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store_gate.h"

namespace carillon::mysql {

struct PoolOptions {
  SessionOptions session;
  size_t size = 8;
  Duration wait = 5s;
};

// What a connection is wanted for.
enum class Use {
  kRead,
  kWrite,
  kWriteAnew,  // on a connection that is opened for it
};
// What a gate is asked about.
enum class Gated { kWrites, kEverything };

class Pool {
 private:
  struct Shared;

 public:
  explicit Pool(PoolOptions options);
  // The connections of `other`, behind a gate that outlives this pool.
  Pool(const Pool& other, StoreGate& gate, Gated gated);
  ~Pool();
  Pool& operator=(const Pool&) = delete;

  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Session& operator*() const { return *session_; }
    Session* operator->() const { return session_.get(); }
    // It was open before this lease: the server may have closed it since.
    bool reused() const { return reused_; }
    // Closes the connection instead of keeping it.
    void Drop() { dropped_ = true; }

   private:
    friend class Pool;
    Lease(Shared& shared, size_t slot) : shared_(&shared), slot_(slot) {}
    Shared* shared_;
    size_t slot_;
    std::unique_ptr<Session> session_;
    bool reused_ = false;
    bool dropped_ = false;
  };

  Result<Lease> Acquire(std::string_view operation, Use use = Use::kRead);

  // "<process>/<slots>": what a takeover by somebody
  // else needs. Made by the server at first connect.
  Result<std::string> Connections();

  // Ends the connections of another process, by its Connections(), and those of our own slots that
  // were dropped but that the server may not have noticed yet.
  Status EndConnectionsOf(Session& session, const std::string& connections);
  Status EndStrays(Session& session);

  size_t size() const;

 private:
  struct Slot {
    std::unique_ptr<Session> idle;
    bool leased = false;
    bool stray = false;  // its last connection was dropped after an error
  };
  struct Shared {
    explicit Shared(PoolOptions pool_options);
    // The free slot to be used next; `mu` is held and one is free.
    size_t TakeFree(Use use);
    void Return(Lease& lease);

    const PoolOptions options;
    std::mutex mu;
    std::condition_variable freed;
    std::vector<Slot> slots;   // guarded by mu
    std::vector<size_t> free;  // guarded by mu; the last ones are warm
    std::string process;       // guarded by mu; set once
  };

  Result<Lease> Borrow(std::string_view operation, Use use);
  Result<std::unique_ptr<Session>> Open(size_t slot);
  Status TakeName(Session& session, const std::string& name);
  Status Inspect(Session& session);

  const std::shared_ptr<Shared> shared_;  // with the pools behind gates
  StoreGate* const gate_ = nullptr;
  const Gated gated_ = Gated::kEverything;
};

// The connections of one store.
struct Pools {
  std::unique_ptr<Pool> all;
  std::unique_ptr<Pool> quick;  // for small reads that must not wait long for a server that hangs
};

}  // namespace carillon::mysql
