// One session with a ZooKeeper ensemble. Turns the C client's asynchronous calls into blocking
// calls with a time limit. So if a server hangs, the callers do not hang.
//
// Place    ZookeeperMembership opens a session, and a new one after the session has expired.
// Threads  Thread-safe. The C client owns an I/O thread and a thread for completions. The latter
//          calls `on_event`, which must not use or destroy the session.
// Errors   kNotFound, kExists, kConflict (version), kDenied (ACL); kUnavailable: no contact or no
//          session; kTimeout: a write whose outcome is unknown.
// Always   Paths are absolute; no argument of a call is used after the call has returned.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

struct _zhandle;  // the C client's zhandle_t

namespace carillon::zookeeper {

struct SessionOptions {
  std::string servers;            // "host:port,host:port", without chroot
  Duration timeout = 6s;          // session timeout; the server may grant another
  std::string digest = {};        // "user:password"; empty = open ACLs
  Duration request_timeout = 4s;  // limit of one request
};

// A node with the fields of its Stat that we use.
struct Node {
  std::string data;
  int32_t version = 0;
  // The transaction that created the node; differs if the node was deleted and created again.
  int64_t created = 0;
  int64_t owner = 0;  // session of an ephemeral node
};

// One step of a transaction.
struct Op {
  enum class Kind { kCheck, kSet };
  Kind kind = Kind::kCheck;
  std::string path;
  int32_t version = -1;  // -1: any
  std::string data = {};
};

// Lets a client take over a session that another client holds (tests end a session this way).
struct SessionIdentity {
  int64_t id = 0;
  std::string password;
};

class Session {
 public:
  enum class Contact { kConnecting, kConnected, kExpired };

  static Result<std::unique_ptr<Session>> Open(SessionOptions options,
                                               std::function<void()> on_event,
                                               const SessionIdentity* identity = nullptr);
  // Ends the session on the server, if it can be reached.
  ~Session();

  Contact contact() const { return contact_.load(std::memory_order_acquire); }
  // Waits for the connection. False after `limit`, or if the session expired.
  bool AwaitConnected(Duration limit);
  SessionIdentity identity() const;
  const SessionOptions& options() const { return options_; }

  enum class Life { kPersistent, kEphemeral, kEphemeralSequence };
  // Returns the path of the node, with a number appended if kEphemeralSequence.
  Result<std::string> Create(const std::string& path, const std::string& data, Life life);
  Status Delete(const std::string& path);
  // With `watch`, on_event is called when the node changes.
  Result<Node> Get(const std::string& path, bool watch);
  Result<std::vector<std::string>> Children(const std::string& path, bool watch);
  // Later reads are at least as new as the state of ZooKeeper's leader at this moment.
  Status Sync(const std::string& path);
  // Executes all steps or none. On failure `failed` is the index of the first rejected step, or -1.
  Status Commit(const std::vector<Op>& ops, Duration limit, int* failed);

 private:
  Session(SessionOptions options, std::function<void()> on_event);
  static void OnEvent(_zhandle* handle, int type, int state, const char* path, void* self);
  Status Authenticate();

  const SessionOptions options_;
  const std::function<void()> on_event_;
  std::atomic<Contact> contact_ = Contact::kConnecting;
  std::mutex mu_;
  std::condition_variable changed_;
  _zhandle* handle_ = nullptr;
};

}  // namespace carillon::zookeeper
