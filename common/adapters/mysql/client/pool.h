// A bounded set of connections, each in a numbered slot of the pool. The pool can also end
// connections that the server still keeps open, of this process or of another process.
//
// Each connection holds a named lock of the server for its whole life
// ("carillon.<process>.<slot>"). IS_USED_LOCK returns the id of the connection that holds a lock,
// and KILL ends the connection with this id. This is used in two cases:
// - The new owner of a segment ends the connections of the old owner. The old owner's process may
//   be frozen in the middle of a transaction.
// - A pool slot that reconnects first ends its previous connection.
// Connection ids alone are not enough. They start over when the server restarts, and could then
// name another client's connection.
//
// A pool behind a gate shares the connections of another pool, but lends only connections that the
// gate has admitted. When a server is replaced, all connections to it break. So it is enough to
// inspect each connection before its first use, and again when the gate's stamp changes.
//
// Threads  Thread-safe. Acquire waits at most `wait` for a free slot.
// Errors   kUnavailable: no connection is available, or the gate is closed; nothing was done.
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

// The purpose of a connection.
enum class Use {
  kRead,
  kWrite,
  kWriteOnNewConnection,  // as kWrite, on a newly opened connection
};
// The calls that ask the gate first.
enum class Gated { kWrites, kEverything };

class Pool {
 private:
  struct Shared;

 public:
  explicit Pool(PoolOptions options);
  // Lends the connections of `other`, behind a gate that must outlive this pool.
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
    // True if the connection was open before this lease. The server may have closed it meanwhile.
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

  // Returns "<process>/<slots>", the argument with which another process calls EndConnectionsOf
  // when it takes over. The server generates <process> at the first connect.
  Result<std::string> Connections();

  // EndConnectionsOf ends the connections of another process; `connections` is the result of the
  // other process's Connections(). EndStrays ends connections that our own slots have dropped, in
  // case the server still keeps them open.
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
    // Takes the free slot to be used next. `mu` must be held, and a slot must be free.
    size_t TakeFree(Use use);
    void Return(Lease& lease);

    const PoolOptions options;
    std::mutex mu;
    std::condition_variable freed;
    std::vector<Slot> slots;   // guarded by mu
    std::vector<size_t> free;  // guarded by mu; the most recently used slot is last
    std::string process;       // guarded by mu; set once
  };

  Result<Lease> Borrow(std::string_view operation, Use use);
  Result<std::unique_ptr<Session>> Open(size_t slot);
  Status TakeName(Session& session, const std::string& name);
  Status Inspect(Session& session);

  const std::shared_ptr<Shared> shared_;  // also owned by the pools behind gates
  StoreGate* const gate_ = nullptr;
  const Gated gated_ = Gated::kEverything;
};

// The connections of one store.
struct Pools {
  std::unique_ptr<Pool> all;
  std::unique_ptr<Pool> quick;  // for small reads that must not wait long if the server hangs
};

}  // namespace carillon::mysql
