// Chooses the executor of a run. Pure: (credits, request) -> executor.
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   Never returns an executor without credit; disabled, draining and lost executors have
//          none. Never returns an executor that the request's constraints exclude.
#pragma once

#include <optional>

#include "common/base/rng.h"
#include "common/domain/job/job.h"
#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

struct RouteRequest {
  SlotClass slots = SlotClass::kProcess;
  Routing routing = Routing::kRoundRobin;
  ExecutorId pinned = {};              // empty = any
  const Selector* selector = nullptr;  // nullptr = any
  bool secrets = false;                // true = only executors that accept secrets
  // The executor at which the run timed out, or that returned the run. Chosen only if there
  // is no other.
  ExecutorCredits::Index avoid = ExecutorCredits::kNone;
};

class Router {
 public:
  explicit Router(uint64_t seed) : rng_(seed) {}
  // nullopt: no eligible executor has room.
  std::optional<ExecutorCredits::Index> Pick(const ExecutorCredits& credits,
                                             const RouteRequest& request);

 private:
  std::optional<ExecutorCredits::Index> RoundRobin(const ExecutorCredits& credits,
                                                   const RouteRequest& request);
  std::optional<ExecutorCredits::Index> Random(const ExecutorCredits& credits,
                                               const RouteRequest& request);
  std::optional<ExecutorCredits::Index> LeastLoaded(const ExecutorCredits& credits,
                                                    const RouteRequest& request);
  std::optional<ExecutorCredits::Index> FirstHealthy(const ExecutorCredits& credits,
                                                     const RouteRequest& request);

  Rng rng_;
  ExecutorCredits::Index next_ = 0;  // where the next round robin begins
};

}  // namespace carillon::scheduler
