// Repeats one readiness check on a loop of its own. No request waits for the check: /readyz answers
// at once even while the store hangs.
//
// Threads  One loop calls Step, which blocks as long as the check does. Read never blocks.
// Time     The result that Read returns is from a check started at most kEvery + kPatience ago.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace carillon::ops {

// A condition of readiness: while `check` returns an error, the process is not ready.
struct ReadyCheck {
  std::string name;
  std::function<Status()> check;
  std::function<std::string()> note = {};  // shown after "ok" in verbose answers
  // True: the check may block and runs on a loop of its own. Other checks run within the request.
  bool blocks = false;
};

class ReadyProbe final : public Stepper {
 public:
  explicit ReadyProbe(ReadyCheck check) : check_(std::move(check)) {}

  // Runs the check once.
  SteadyTime Step(SteadyTime now) override;

  // The latest result. kTimeout: the check has been running for more than kPatience. kUnavailable:
  // it has not run yet.
  Status Read(SteadyTime now) const;

  // Waits for the first result, at most kPatience.
  void AwaitFirstAnswer() { first_.wait_for(kPatience); }

  static constexpr Duration kEvery = 500ms;
  static constexpr Duration kPatience = 1s;

 private:
  const ReadyCheck check_;
  std::promise<void> answered_;
  const std::future<void> first_ = answered_.get_future();
  mutable Mutex mu_;
  std::optional<SteadyTime> asked_ GUARDED_BY(mu_);  // start of the running check
  std::optional<Status> answer_ GUARDED_BY(mu_);
};

}  // namespace carillon::ops
