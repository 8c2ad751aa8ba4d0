// A simulated process: its loops, and whether it is alive or stopped.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/loops/loop.h"
#include "tests/sim/host_clock.h"

namespace carillon::sim {

// One loop of a simulated process. In a real process it is a thread.
struct Turn {
  std::string name;
  Stepper* stepper = nullptr;
  SteadyTime next{};  // when it runs next, in world time
  bool woken = true;
  bool busy = false;   // inside Step, perhaps waiting in a call while other turns run
  uint64_t pause = 0;  // the value of pause() of its process when the turn began
};

class SimProcess {
 public:
  SimProcess(std::string name, HostClock& clock) : name_(std::move(name)), clock_(clock) {}
  virtual ~SimProcess() = default;

  const std::string& name() const { return name_; }
  HostClock& clock() { return clock_; }
  bool alive() const { return alive_; }
  bool up() const { return !turns_.empty(); }
  const std::vector<std::unique_ptr<Turn>>& turns() const { return turns_; }
  bool CanStep(SteadyTime now) const { return alive_ && now >= stopped_until_; }
  bool busy() const {
    return std::any_of(turns_.begin(), turns_.end(), [](const auto& turn) { return turn->busy; });
  }

  // The number of the cluster pause in which this process believes to be; 0 = not paused.
  virtual uint64_t pause() const { return 0; }

  // Stops the process until `until`, like SIGSTOP and then SIGCONT.
  void Stop(SteadyTime until) { stopped_until_ = std::max(stopped_until_, until); }
  SteadyTime stopped_until() const { return stopped_until_; }

  // Kills the process like SIGKILL: it sends nothing after this. Turns that wait in a call still
  // return from it; after that the world calls Bury().
  void Kill() { alive_ = false; }
  // Destroys the loops. The world calls this when no turn is busy.
  void Bury() {
    turns_.clear();
    Destroy();
  }
  // Makes this loop run at once.
  void Wake(std::string_view name) {
    for (const auto& turn : turns_) {
      if (turn->name == name) turn->woken = true;
    }
  }
  void Start() {
    alive_ = true;
    stopped_until_ = {};
    Create();
  }

 protected:
  virtual void Create() = 0;
  virtual void Destroy() = 0;
  Turn& AddTurn(std::string name, Stepper& stepper) {
    turns_.push_back(std::make_unique<Turn>());
    turns_.back()->name = std::move(name);
    turns_.back()->stepper = &stepper;
    return *turns_.back();
  }
  bool alive_ = false;

 private:
  const std::string name_;
  HostClock& clock_;
  SteadyTime stopped_until_{};
  std::vector<std::unique_ptr<Turn>> turns_;
};

}  // namespace carillon::sim
