// Remembers attempts whose results are in the database. So a lost acknowledgement can be repeated
// without a query.
//
// Threads  Thread-safe.
// Always   Holds at most `capacity` attempts. The oldest attempts are evicted first. If an executor
//          missed the acknowledgement of an evicted attempt, the executor sends the result over the
//          bus again. That result is then acknowledged.
#pragma once

#include <deque>
#include <set>
#include <tuple>
#include <vector>

#include "common/base/mutex.h"
#include "common/ports/executor_link.h"

namespace carillon::scheduler {

class AppliedMemory {
 public:
  explicit AppliedMemory(size_t capacity) : capacity_(capacity) {}

  void Add(const std::vector<HeldAttempt>& applied) {
    MutexLock lock(mu_);
    for (const HeldAttempt& held : applied) {
      if (!known_.insert(held.token).second) continue;
      order_.push_back(held.token);
      if (order_.size() <= capacity_) continue;
      known_.erase(order_.front());
      order_.pop_front();
    }
  }

  // Returns the attempts of `reported` that are known to be applied, in the same order.
  std::vector<HeldAttempt> Among(const std::vector<HeldAttempt>& reported) const {
    std::vector<HeldAttempt> applied;
    MutexLock lock(mu_);
    for (const HeldAttempt& held : reported) {
      if (known_.count(held.token) > 0) applied.push_back(held);
    }
    return applied;
  }

  void Forget() {
    MutexLock lock(mu_);
    known_.clear();
    order_.clear();
  }

 private:
  const size_t capacity_;
  mutable Mutex mu_;
  std::set<ClaimToken> known_ GUARDED_BY(mu_);
  std::deque<ClaimToken> order_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
