// One readiness check, asked again and again on a loop of its own, so that nobody who wants to know
// waits for it: /readyz answers at once while the store hangs.
//
// Threads  One loop calls Step, which blocks as long as the check does. Read never blocks.
// Time     What Read says was asked at most kEvery + kPatience ago.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "common/base/loop.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace carillon::ops {

struct ReadyCheck {
  std::string name;
  std::function<Status()> check;
  std::function<std::string()> note = {};  // said behind "ok" where all is told
  bool blocks = false;  // asked aside; one that does not is asked by whoever wants to know
};

class ReadyProbe final : public Stepper {
 public:
  explicit ReadyProbe(ReadyCheck check) : check_(std::move(check)) {}

  // Asks once.
  SteadyTime Step(SteadyTime now) override;

  // The check's last word. kTimeout: it was asked more than kPatience ago and has not answered.
  // kUnavailable: it was not asked yet.
  Status Read(SteadyTime now) const;

  // Until the first answer, at most kPatience.
  void AwaitFirstAnswer() { first_.wait_for(kPatience); }

  static constexpr Duration kEvery = 500ms;
  static constexpr Duration kPatience = 1s;

 private:
  const ReadyCheck check_;
  std::promise<void> answered_;
  const std::future<void> first_ = answered_.get_future();
  mutable Mutex mu_;
  std::optional<SteadyTime> asked_ GUARDED_BY(mu_);  // while the question is open
  std::optional<Status> answer_ GUARDED_BY(mu_);
};

}  // namespace carillon::ops
