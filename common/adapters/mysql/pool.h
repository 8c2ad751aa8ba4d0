// A bounded set of connections, and the means to end those that the server still keeps for us.
//
// Each connection holds a named lock of the server for its whole life
// ("carillon.<process>.<slot>"). IS_USED_LOCK tells the connection id behind a name, so that a new
// owner of a segment can KILL the connections of the old one (whose process may be frozen in the
// middle of a transaction), and a slot that reconnects ends its own predecessor first. Ids alone
// would not do: they start over when the server does, and would name somebody else.
//
// Threads  Thread-safe. Acquire waits for a free slot for `wait` at most.
// Errors   kUnavailable: no connection to be had, nothing was done.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/adapters/mysql/session.h"

namespace carillon::mysql {

struct PoolOptions {
  SessionOptions session;
  size_t size = 8;
  Duration wait = 5s;
};

class Pool {
 public:
  explicit Pool(PoolOptions options);
  ~Pool();

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
    Lease(Pool& pool, size_t slot) : pool_(&pool), slot_(slot) {}
    Pool* pool_;
    size_t slot_;
    std::unique_ptr<Session> session_;
    bool reused_ = false;
    bool dropped_ = false;
  };

  Result<Lease> Acquire(std::string_view operation);

  // "<process>/<slots>": what a takeover by somebody else needs. Made by the server at first
  // connect.
  Result<std::string> Connections();

  // Ends the connections of another process, by its Connections(), and those of our own slots that
  // were dropped but that the server may not have noticed yet.
  Status EndConnectionsOf(Session& session, const std::string& connections);
  Status EndStrays(Session& session);

  size_t size() const { return options_.size; }

 private:
  struct Slot {
    std::unique_ptr<Session> idle;
    bool leased = false;
    bool stray = false;  // its last connection was dropped after an error
  };

  Result<std::unique_ptr<Session>> Open(size_t slot);
  Status TakeName(Session& session, const std::string& name);
  void Return(Lease& lease);

  const PoolOptions options_;
  std::mutex mu_;
  std::condition_variable freed_;
  std::vector<Slot> slots_;   // guarded by mu_
  std::vector<size_t> free_;  // guarded by mu_; the last one is used first: it is warm
  std::string process_;       // guarded by mu_; set once
};

}  // namespace carillon::mysql
