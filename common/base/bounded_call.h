// Runs a question to the store on a thread of its own, so that a caller who can do without the
// answer waits a bounded time, and not at all while the store is known to hang.
//
// Threads  Thread-safe. One thread; questions run one after the other.
// Always   At most kWaitingMax questions wait; one whose asker has given up is not asked any more.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/worker_pool.h"

namespace carillon {

class BoundedCall {
 public:
  explicit BoundedCall(const Clock& clock) : clock_(clock) {}

  // nullopt: no answer within `patience`, or one that was asked longer ago has none yet.
  template <typename Answer>
  std::optional<Answer> Ask(Duration patience, std::function<Answer()> question) {
    if (HangsFor(patience)) return std::nullopt;
    struct Asked {
      std::promise<Answer> answer;
      std::atomic<bool> given_up{false};
    };
    // Shared: whichever of asker and thread comes last frees it.
    auto asked = std::make_shared<Asked>();
    std::future<Answer> answer = asked->answer.get_future();
    const bool taken = thread_.TryPost([this, asked, question = std::move(question)] {
      if (asked->given_up) return;
      SetBegun(clock_.Steady());
      asked->answer.set_value(question());
      SetBegun(std::nullopt);
    });
    if (taken && answer.wait_for(patience) == std::future_status::ready) return answer.get();
    asked->given_up = true;
    return std::nullopt;
  }

  // After the question in progress; later ones are not taken.
  void Stop() { thread_.Stop(); }

  static constexpr size_t kWaitingMax = 32;  // questions

 private:
  bool HangsFor(Duration patience) const {
    const MutexLock lock(mu_);
    return begun_ && clock_.Steady() - *begun_ > patience;
  }
  void SetBegun(std::optional<SteadyTime> begun) {
    const MutexLock lock(mu_);
    begun_ = begun;
  }

  const Clock& clock_;
  mutable Mutex mu_;
  std::optional<SteadyTime> begun_ GUARDED_BY(mu_);  // of the question in progress
  WorkerPool thread_{{.threads = 1, .queue_max = kWaitingMax}};
};

}  // namespace carillon
