// Queue of the calls by which executors request a certificate. A thread of its own answers one call
// at a time, because issuing a certificate blocks.
//
// Threads  Take is called on gRPC's threads. Call Stop before the server is shut down.
// Always   At most kJoinsWaitingMax calls wait for their answer. Each call is answered once.
//          The callers are not authenticated, so the memory that they can use is bounded. At most
//          kJoinsUnreadMax calls are open whose request has not arrived. Such a call is refused
//          after `patience`. If a new call exceeds the limit, the oldest such call is refused.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "common/adapters/grpc/grpc_include.h"
#include "common/base/clock.h"
#include "common/ports/executor_join.h"

namespace carillon::rpc {

inline constexpr size_t kJoinsWaitingMax = 16;
inline constexpr size_t kJoinsUnreadMax = 32;
inline constexpr size_t kJoinBytesMax = 64u << 10;

class JoinCall;

class JoinCalls {
 public:
  // `refused` is called for each call whose request did not arrive in time.
  // `refused` must not block.
  JoinCalls(IssueCertificate issue, const Clock& clock, Duration patience,
            std::function<void()> refused);
  ~JoinCalls() { Stop(); }

  // Returns the reactor of a new call. `who` does not contain the certificate request yet: the
  // reactor reads this request from the stream.
  grpc::ServerGenericBidiReactor* Take(const JoinRequest& who);
  void Stop();

  // Called by JoinCall when its read has ended. Returns false if the call was refused meanwhile.
  bool Ended(JoinCall* call);
  // Called by JoinCall with a complete request. Answers later, or at once if too many wait.
  void Put(JoinCall* call);

 private:
  struct Unread {
    JoinCall* call;
    SteadyTime until;
  };
  void Run();
  // If the time of the oldest unread call is over, removes and returns this call. Otherwise returns
  // null. Called under mu_.
  JoinCall* TakeOverdue();
  void GiveUp(JoinCall* call);

  const IssueCertificate issue_;
  const Clock& clock_;
  const Duration patience_;
  const std::function<void()> refused_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<JoinCall*> waiting_;  // guarded by mu_; gRPC keeps a call until it is answered
  std::deque<Unread> unread_;      // guarded by mu_; oldest first
  bool stopping_ = false;          // guarded by mu_
  std::thread thread_;
};

}  // namespace carillon::rpc
