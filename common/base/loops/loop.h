// Calls the Step of one room repeatedly, on a thread of its own. The simulator has none of these
// threads: it calls the Steps of all rooms in turn.
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

// A service that does a bounded amount of work each time the app or the simulator calls Step.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // Does bounded work at `now` and returns the time of the next call (<= now: call again at once).
  // It is always harmless to call Step earlier.
  virtual SteadyTime Step(SteadyTime now) = 0;
};

// One loop of a daemon. The app runs it on a thread with this name; the simulator calls all
// loops in turn.
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
