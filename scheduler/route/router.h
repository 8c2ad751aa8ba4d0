// Chooses the executor of a run. Pure: (credits, request) -> executor.
//
// Place    Step 5 of docs/life-of-a-run.md.
// Threads  Not thread-safe; the firing loop owns it.
// Always   Never returns an executor without credit; disabled, draining and lost executors have
//          none. Never returns an executor that the request's constraints exclude.
// Cost     Less than 2 us among 10,000 executors: `./dev bench route`.
#pragma once

#include <optional>

#include "common/base/rng.h"
#include "common/domain/job/job.h"
#include "scheduler/route/candidates.h"
#include "scheduler/route/hash_ring.h"

namespace carillon::scheduler {

struct RouteRequest {
  SlotClass slots = SlotClass::kProcess;
  Routing routing = Routing::kRoundRobin;
  ExecutorId pinned = {};              // empty = any
  const Selector* selector = nullptr;  // nullptr = any
  Features needs = {};                 // only executors that have all of them
  // The executor at which the run timed out, or that returned the run. Chosen only if there
  // is no other.
  ExecutorCredits::Index avoid = ExecutorCredits::kNone;
  uint64_t place = 0;  // of kConsistentHash: the hash of the routing key
};

class Router {
 public:
  using Index = ExecutorCredits::Index;
  // Up to this many open candidates, least_loaded and weighted find the least busy one. Among
  // more it takes the better of kDrawn random ones, which keeps the load as even and does not
  // look at all.
  static constexpr size_t kExactMax = 64;
  static constexpr int kDrawn = 4;

  explicit Router(uint64_t seed) : rng_(seed) {}
  // nullopt: no eligible executor has room. `candidates` are those of runs with this selector and
  // these needs.
  std::optional<Index> Pick(const ExecutorCredits& credits, const RouteRequest& request,
                            Candidates& candidates);
  // Tasks that follow are sent in other records. Light runs of one round go to one executor in
  // groups of up to kLightGroup, because a record costs far more than a further task in it.
  void BeginRound() { light_left_ = 0; }

 private:
  static constexpr int kLightGroup = 32;

  std::optional<Index> RoundRobin(const IndexSet& open, const IndexSet& able, Index avoid);
  std::optional<Index> InLightGroup(const IndexSet& open, const IndexSet& able, Index avoid);
  std::optional<Index> Random(const IndexSet& open, const IndexSet& able, Index avoid);
  // The one for which `cost` is lowest.
  template <typename Cost>
  std::optional<Index> Lowest(const ExecutorCredits& credits, const RouteRequest& request,
                              const IndexSet& able, const Cost& cost);

  Rng rng_;
  HashRing ring_;                         // followed only while runs are routed by it
  Index next_ = 0;                        // where the next round robin begins
  Index light_ = ExecutorCredits::kNone;  // the executor of the present group
  int light_left_ = 0;                    // runs that it may still get
};

}  // namespace carillon::scheduler
