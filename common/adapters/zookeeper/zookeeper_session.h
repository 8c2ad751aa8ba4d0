// One session with a ZooKeeper ensemble: the C client's asynchronous calls, each waited for with a
// limit, so that no caller hangs as long as a server does.
//
// Place    ZookeeperCoordinator opens one, and another after an expiry.
// Threads  Thread-safe. The client owns an IO thread and one for completions, on which `on_event`
//          is called: it must not call back into the session, and must not destroy it.
// Errors   kNotFound, kExists, kConflict (version), kDenied (ACL); kUnavailable: no contact or no
//          session; kTimeout: a write whose outcome is unknown.
// Always   Paths are absolute; nothing of a caller is referenced after its call returned.
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
  std::string servers;            // "host:port,host:port", no chroot
  Duration timeout = 6s;          // of the session; the server may grant another
  std::string digest = {};        // "user:password"; empty = open ACLs
  Duration request_timeout = 4s;  // that a caller waits for one answer
};

struct Node {
  std::string data;
  int32_t version = 0;
  int64_t created = 0;  // transaction that made it: another one after it was made anew
  int64_t owner = 0;    // session of an ephemeral node
};

// One step of a transaction.
struct Op {
  enum class Kind { kCheck, kSet };
  Kind kind = Kind::kCheck;
  std::string path;
  int32_t version = -1;  // -1: any
  std::string data = {};
};

// How the client is to keep a session that another client holds (a test ends one this way).
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
  // Ends the session on the server when it can be reached.
  ~Session();

  Contact contact() const { return contact_.load(std::memory_order_acquire); }
  // False after `limit`, or when the session expired.
  bool AwaitConnected(Duration limit);
  SessionIdentity identity() const;
  const SessionOptions& options() const { return options_; }

  enum class Life { kPersistent, kEphemeral, kEphemeralSequence };
  // The path of the node, which with kEphemeralSequence has a number appended.
  Result<std::string> Create(const std::string& path, const std::string& data, Life life);
  Status Delete(const std::string& path);
  // `watch`: on_event is called when this changes.
  Result<Node> Get(const std::string& path, bool watch);
  Result<std::vector<std::string>> Children(const std::string& path, bool watch);
  // What is read afterwards is at least as new as what the leader had now.
  Status Sync(const std::string& path);
  // All or nothing; on failure `failed` is the first step that was refused, or -1.
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
