// The part of the cluster's state that only the store knows, read on a thread of its own so that
// callers wait a bounded time.
//
// Threads  Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "common/base/mutex.h"
#include "scheduler/api/api_context.h"
#include "scheduler/api/aside.h"

namespace carillon::scheduler {

struct StoreView {
  std::vector<SegmentRecord> segments;
  std::vector<ExecutorRecord> executors;
  RunCounts counts;
};

struct StoreSight {
  std::optional<StoreView> view = {};  // nullopt: the store did not answer
  // By this member's clock: when the store answered last, or when the watch began.
  WallTime known_at = {};
};

class StoreWatch {
 public:
  explicit StoreWatch(const ApiContext& context);

  StoreSight Look();
  void Stop() { aside_.Stop(); }

 private:
  const ApiContext& context_;
  Aside aside_;
  Mutex mu_;
  WallTime known_at_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
