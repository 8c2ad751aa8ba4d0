// Turns a room's Step into a thread. The simulator calls the same Step by turns.
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

// What a service of bounded work looks like to the app and to the simulator.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // Does bounded work at `now` and returns when it next wants to be called (may be <= now for
  // "at once"). Calling it earlier is always harmless.
  virtual SteadyTime Step(SteadyTime now) = 0;
};

// One loop of a daemon: the app gives it a thread of that name, the simulator a turn.
struct NamedStepper {
  std::string name;  // at most 15 characters reach the thread
  Stepper* stepper = nullptr;
};

class LoopRunner {
 public:
  // Starts the thread. `clock` and `stepper` outlive it.
  LoopRunner(std::string name, const Clock& clock, Stepper& stepper);
  // Stops after the Step in progress.
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
