// Runs several rooms on one loop: each Step calls the Step of every room in order and returns the
// earliest of their wake-up times.
//
// Threads  One loop calls Step.
#pragma once

#include <algorithm>
#include <vector>

#include "common/base/loops/loop.h"

namespace carillon::scheduler {

class SequenceStepper final : public Stepper {
 public:
  explicit SequenceStepper(std::vector<Stepper*> steppers) : steppers_(std::move(steppers)) {}

  SteadyTime Step(SteadyTime now) override {
    SteadyTime next = SteadyTime::max();
    for (Stepper* stepper : steppers_) next = std::min(next, stepper->Step(now));
    return next;
  }

 private:
  const std::vector<Stepper*> steppers_;
};

}  // namespace carillon::scheduler
