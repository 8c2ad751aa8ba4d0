// Keeps work away from an executor whose host cannot run it. Pure.
//
// If 5 of the last 10 attempts of at least two jobs ended for a reason of the host (it had no
// process, memory or disk for them, the warden died), the executor gets no work for 30 s. After
// that it gets one task at a time: an attempt that ran ends the pause, another such end makes the
// next one twice as long, up to 10 minutes.
//
// Failures of commands do not count, nor do attempts that could not be started because of their
// jobs, or bad jobs would close all executors; for the same reason the attempts of one job alone do
// not close one.
#pragma once

#include <deque>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace carillon::scheduler {

// The word of an attempt's end on the host of its executor.
enum class HostWord {
  kNothing,  // it was not started because of its job, or its lease ended
  kWorks,
  kFault,
};

class HostBreaker {
 public:
  static constexpr size_t kLooksBack = 10;
  static constexpr int kFailures = 5;
  static constexpr Duration kFirstPause = 30s;
  static constexpr Duration kLongestPause = 600s;

  // An attempt of `job` has ended.
  void Note(JobNo job, HostWord word, SteadyTime now);
  void Reset() { *this = HostBreaker(); }

  // No work now.
  bool Pauses(SteadyTime now) const { return pause_ != Duration{} && now < until_; }
  // The pause is over, and no attempt has shown yet that the host works.
  bool Probes(SteadyTime now) const { return pause_ != Duration{} && now >= until_; }
  SteadyTime until() const { return until_; }
  // Length of the current pause, or of the last one before a probe; 0: neither.
  Duration pause() const { return pause_; }

 private:
  struct End {
    JobNo job;
    bool fault = false;
  };
  void Begin(Duration pause, SteadyTime now);

  std::deque<End> last_;
  Duration pause_{};
  SteadyTime until_{};
};

}  // namespace carillon::scheduler
