// The clock of one simulated host. It runs as fast as the world's clock, but has its own time of
// boot (the zero of its steady time) and its own error of the wall time.
#pragma once

#include "common/base/clock.h"

namespace carillon::sim {

class HostClock final : public Clock {
 public:
  HostClock(const Clock& world, Duration booted_before, Duration wall_error)
      : world_(world), booted_before_(booted_before), wall_error_(wall_error) {}
  WallTime Wall() const override { return world_.Wall() + wall_error_; }
  SteadyTime Steady() const override { return world_.Steady() + booted_before_; }

  void StepWall(Duration by) { wall_error_ += by; }
  void SetWallError(Duration error) { wall_error_ = error; }
  SteadyTime ToWorld(SteadyTime here) const {
    // The value for "never" must stay the same.
    if (here > SteadyTime(Duration::max() / 2)) return SteadyTime::max();
    return here - booted_before_;
  }

 private:
  const Clock& world_;
  const Duration booted_before_;
  Duration wall_error_;
};

}  // namespace carillon::sim
