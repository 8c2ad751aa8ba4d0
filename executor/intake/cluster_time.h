// Cluster time at an executor: the last value a member sent, advanced by this host's steady clock.
//
// The delay of a message makes this time late, never early, so no task is treated as
// expired too soon.
//
// Place    Beside the intake. Members send the time when they register this executor and with every
//          heartbeat reply.
// Threads  Not thread-safe; the core loop owns it.
// Time     Never reads a clock.
#pragma once

#include <optional>

#include "common/base/time.h"

namespace carillon::executor {

class ClusterTime {
 public:
  void Tell(WallTime told, SteadyTime now) { last_ = Reading{told, now}; }
  // nullopt until a member has sent the time.
  std::optional<WallTime> At(SteadyTime now) const {
    if (!last_) return std::nullopt;
    return last_->time + (now - last_->heard);
  }

 private:
  struct Reading {
    WallTime time;
    SteadyTime heard;
  };
  std::optional<Reading> last_;
};

}  // namespace carillon::executor
