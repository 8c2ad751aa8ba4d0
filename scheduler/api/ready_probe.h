// One readiness check. One that may block is asked again and again on a loop of its own, so that
// nobody who wants to know waits for it: /readyz answers at once while the store hangs.
//
// Threads  One loop calls Step, which blocks as long as the check does. Read never blocks.
// Time     What Read says was asked at most kEvery + kPatience ago, and a failure kAgain +
// kPatience.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "common/base/loop.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace carillon::scheduler {

struct ReadyCheck {
  std::string name;
  std::function<Status()> check;
  // False: it only looks at memory, and is asked anew by each request.
  bool may_block = true;
};

class ReadyProbe final : public Stepper {
 public:
  explicit ReadyProbe(ReadyCheck check) : check_(std::move(check)) {}

  // Asks once.
  SteadyTime Step(SteadyTime now) override;

  // The check's last word. kTimeout: it was asked more than kPatience ago and has not answered.
  // kUnavailable: it was not asked yet.
  Status Read(SteadyTime now) const;
  const std::string& name() const { return check_.name; }

  // Until the first answer, at most kPatience.
  void AwaitFirstAnswer() {
    if (check_.may_block) first_.wait_for(kPatience);
  }

  static constexpr Duration kEvery = 500ms;
  static constexpr Duration kAgain = 50ms;  // after a failure
  static constexpr Duration kPatience = 1s;

 private:
  const ReadyCheck check_;
  std::promise<void> answered_;
  const std::future<void> first_ = answered_.get_future();
  mutable Mutex mu_;
  std::optional<SteadyTime> asked_ GUARDED_BY(mu_);  // while the question is open
  std::optional<Status> answer_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
