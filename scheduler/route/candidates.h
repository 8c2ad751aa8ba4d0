// The executors that may run the runs of one lane: those that match its selector and have the
// features that it needs. Rebuilt when executors, labels or features change, which is seldom; a
// pick only reads it.
//
// Threads  Not thread-safe; the firing loop owns it.
#pragma once

#include <optional>

#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

class Candidates {
 public:
  // `selector`: nullptr = any executor. Cheap if nothing has changed.
  void Follow(const ExecutorCredits& credits, const Selector* selector, Features needs);

  const IndexSet& all() const { return all_; }
  // The candidate with the lowest id that is also in `open` and is not `avoid`.
  std::optional<ExecutorCredits::Index> FirstByName(const ExecutorCredits& credits,
                                                    const IndexSet& open,
                                                    ExecutorCredits::Index avoid);

 private:
  std::optional<uint64_t> changes_;  // of the credits, as of the last Follow
  IndexSet all_;
  std::vector<ExecutorCredits::Index> by_name_;  // empty until it is needed
};

}  // namespace carillon::scheduler
