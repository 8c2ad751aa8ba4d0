// Runs a room's Step on a thread. The simulator calls the same Step in turn with others.
//
// Threads  LoopRunner owns one thread. Wake() is safe from any thread and from inside Step.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "common/base/clock.h"

namespace carillon {

// A service that does bounded work per call, as seen by the app and the simulator.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // Does bounded work at `now` and returns the time of the next call (<= now: call again at once).
  // Earlier calls are always harmless.
  virtual SteadyTime Step(SteadyTime now) = 0;
};

// One loop of a daemon: the app runs it on a thread with this name, the simulator in turn.
struct NamedStepper {
  std::string name;  // the thread's name is its first 15 characters
  Stepper* stepper = nullptr;
};

class LoopRunner {
 public:
  // Starts the thread. `clock` and `stepper` must outlive the runner.
  LoopRunner(std::string name, const Clock& clock, Stepper& stepper);
  // Waits for the Step in progress, then stops.
  ~LoopRunner();
  void Wake();
  void Stop();

 private:
  void Run();

  const std::string name_;
  const Clock& clock_;
  Stepper& stepper_;
  std::mutex mu_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace carillon
