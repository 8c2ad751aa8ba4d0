// Calls of executors for a certificate: answered one after the other by a thread of its own,
// because what answers them blocks.
//
// Threads  Take is called on gRPC's threads. Stop before the server is shut down.
// Always   At most kJoinsWaitingMax calls wait; each is answered once. Whoever calls need not have
//          a certificate, so what he can hold is bounded: kJoinsUnreadMax calls whose request has
//          not arrived, for `patience` each; one more takes the place of the oldest.
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
  // `refused` is told of each call that did not bring its request in time; must not block.
  JoinCalls(IssueCertificate issue, const Clock& clock, Duration patience,
            std::function<void()> refused);
  ~JoinCalls() { Stop(); }

  // `who`: without the request, which the call brings.
  grpc::ServerGenericBidiReactor* Take(const JoinRequest& who);
  void Stop();

  // Of JoinCall: its read has ended. False: the call was given up meanwhile.
  bool Ended(JoinCall* call);
  // Of JoinCall: the request is here. Answered later, or now when too many wait.
  void Put(JoinCall* call);

 private:
  struct Unread {
    JoinCall* call;
    SteadyTime until;
  };
  void Run();
  // The oldest unread call, if it has to go. Under mu_.
  JoinCall* TakeOverdue();
  void GiveUp(JoinCall* call);

  const IssueCertificate issue_;
  const Clock& clock_;
  const Duration patience_;
  const std::function<void()> refused_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<JoinCall*> waiting_;  // guarded by mu_; gRPC keeps each until it was answered
  std::deque<Unread> unread_;      // guarded by mu_; oldest first
  bool stopping_ = false;          // guarded by mu_
  std::thread thread_;
};

}  // namespace carillon::rpc
