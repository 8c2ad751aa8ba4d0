// Calls of executors for a certificate: answered one after the other by a thread of its own,
// because what answers them blocks.
//
// Threads  Take is called on gRPC's threads. Stop before the server is shut down.
// Always   At most kJoinsWaitingMax calls wait; each is answered once.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "common/adapters/grpc/grpc_include.h"
#include "common/ports/executor_join.h"

namespace carillon::rpc {

inline constexpr size_t kJoinsWaitingMax = 16;
inline constexpr size_t kJoinBytesMax = 64u << 10;

class JoinCall;

class JoinCalls {
 public:
  explicit JoinCalls(IssueCertificate issue);
  ~JoinCalls() { Stop(); }

  // `who`: without the request, which the call brings.
  grpc::ServerGenericBidiReactor* Take(const JoinRequest& who);
  void Stop();

  // Of JoinCall: the request is here. Answered later, or now when too many wait.
  void Put(JoinCall* call);

 private:
  void Run();

  const IssueCertificate issue_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<JoinCall*> waiting_;  // guarded by mu_; gRPC keeps each until it was answered
  bool stopping_ = false;          // guarded by mu_
  std::thread thread_;
};

}  // namespace carillon::rpc
