// Runs queries on a separate thread, for callers that can continue without the answer. A caller
// waits for a bounded time, and not at all while the store is known to hang.
//
// Threads  Thread-safe. All queries run on one thread of this object, one after the other.
// Always   At most kWaitingMax queries wait. A query whose caller has given up is skipped.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/loops/worker_pool.h"
#include "common/base/mutex.h"

namespace carillon {

class BoundedCall {
 public:
  explicit BoundedCall(const Clock& clock) : clock_(clock) {}

  // Returns nullopt if there is no answer within `patience`. Returns nullopt at once if an earlier
  // query has been running for longer than `patience`.
  template <typename Answer>
  std::optional<Answer> Ask(Duration patience, std::function<Answer()> question) {
    if (HangsFor(patience)) return std::nullopt;
    struct Asked {
      std::promise<Answer> answer;
      std::atomic<bool> given_up{false};
    };
    // Shared, because it is unknown whether the caller or the thread finishes last.
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

  // Waits for the query in progress; queries still waiting are dropped.
  void Stop() { thread_.Stop(); }

  static constexpr size_t kWaitingMax = 32;  // queries

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
  std::optional<SteadyTime> begun_ GUARDED_BY(mu_);  // start of the query in progress
  WorkerPool thread_{{.threads = 1, .queue_max = kWaitingMax}};
};

}  // namespace carillon
