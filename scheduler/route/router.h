// Chooses the executor of a run. Pure: (credits, request) -> executor.
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   Never an executor without credit, which one that is disabled, draining or lost has not;
//          never one that the request's constraint leaves out.
#pragma once

#include <optional>

#include "common/base/rng.h"
#include "common/domain/job.h"
#include "scheduler/route/executor_credits.h"

namespace carillon::scheduler {

struct RouteRequest {
  SlotClass slots = SlotClass::kProcess;
  Routing routing = Routing::kRoundRobin;
  ExecutorId pinned = {};              // empty = any
  const Selector* selector = nullptr;  // nullptr = any
  bool secrets = false;                // only those that take them
  // It let this run time out; only if it is the only one.
  ExecutorCredits::Index avoid = ExecutorCredits::kNone;
};

class Router {
 public:
  explicit Router(uint64_t seed) : rng_(seed) {}
  // nullopt: nobody has room.
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
  ExecutorCredits::Index next_ = 0;  // the turn of a round
};

}  // namespace carillon::scheduler
