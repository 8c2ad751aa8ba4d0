// Cluster time at an executor: as a member told it last, carried on by this host's steady clock.
//
// The time that a message takes makes it late, never early: a task is not called expired too soon.
//
// Place    Beside the intake; members tell it when they register this executor and with each answer
//          to a heartbeat.
// Threads  Not thread-safe; the core loop owns it.
// Time     Never reads a clock.
#pragma once

#include <optional>

#include "common/base/time.h"

namespace carillon::executor {

class ClusterTime {
 public:
  void Tell(WallTime told, SteadyTime now) { last_ = Told{told, now}; }
  // nullopt while no member told it: one of an older version does not.
  std::optional<WallTime> At(SteadyTime now) const {
    if (!last_) return std::nullopt;
    return last_->time + (now - last_->heard);
  }

 private:
  struct Told {
    WallTime time;
    SteadyTime heard;
  };
  std::optional<Told> last_;
};

}  // namespace carillon::executor
