// The threads of a daemon: one LoopRunner per stepper.
//
// Threads  Add and Stop are called by one thread.
// Always   Runners remain valid for late wake-ups: Stop ends only the threads, and the destructor
//          destroys the runners.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/loops/loop.h"

namespace carillon {

class Loops {
 public:
  // Starts the loop; `clock` and `stepper` must outlive Stop.
  LoopRunner& Add(const std::string& name, const Clock& clock, Stepper& stepper) {
    runners_.push_back(std::make_unique<LoopRunner>(name, clock, stepper));
    return *runners_.back();
  }
  void Stop() {
    for (auto& runner : runners_) runner->Stop();
  }

 private:
  std::vector<std::unique_ptr<LoopRunner>> runners_;
};

}  // namespace carillon
