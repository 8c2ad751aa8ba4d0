// Decides whether the warden at the other end of the socket still answers. Pure.
//
// A warden that is stopped, or hangs in the kernel, keeps its socket open: the connection does not
// break, but nothing is done. So the client pings the warden; any message from the warden counts as
// an answer.
//
// Threads  Not thread-safe; the client's thread owns it.
// Time     Never reads a clock. Counts pings, not seconds, because a daemon that was stopped itself
//          finds at most one ping unanswered.
#pragma once

#include "common/base/time.h"

namespace carillon::executor {

class WardenPulse {
 public:
  static constexpr Duration kPingEvery = 1s;
  static constexpr int kUnansweredMax = 3;

  // Call it for each new connection.
  void Begin(SteadyTime now) {
    unanswered_ = 0;
    next_ = now + kPingEvery;
  }
  // Call it for each message that arrives, of any kind.
  void Heard() { unanswered_ = 0; }
  // True if a ping must be sent. A silent warden gets none, because earlier pings are still
  // unanswered.
  bool Due(SteadyTime now) {
    if (now < next_) return false;
    next_ = now + kPingEvery;
    if (!silent()) ++unanswered_;
    return !silent();
  }
  bool silent() const { return unanswered_ > kUnansweredMax; }
  SteadyTime next() const { return next_; }

 private:
  int unanswered_ = 0;
  SteadyTime next_{};
};

}  // namespace carillon::executor
