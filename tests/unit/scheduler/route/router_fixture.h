// A router, and credits to which the tests add executors.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "scheduler/route/router.h"

namespace carillon::scheduler {

inline constexpr SteadyTime kStart{1000s};
inline constexpr auto kProcess = SlotClass::kProcess;

class RouterTest : public ::testing::Test {
 protected:
  ExecutorCredits::Index Add(const std::string& id, int free, bool usable = true, int slots = 8,
                             std::map<std::string, std::string> labels = {}) {
    credits_.Update({.id = ExecutorId(id),
                     .incarnation = Incarnation("i"),
                     .usable = usable,
                     .labels = std::move(labels),
                     .slots = slots,
                     .free_slots = free,
                     .free_light_slots = 10,
                     .heartbeats = ++beats_});
    return credits_.Find(ExecutorId(id));
  }
  ExecutorCredits credits_{100};
  // Returns how often each executor is chosen in `picks` choices. No choice counts as published.
  std::map<std::string, int> Picks(const RouteRequest& request, int picks) {
    std::map<std::string, int> counts;
    for (int i = 0; i < picks; ++i) {
      const auto at = Pick(request);
      ++counts[at ? credits_.id(*at).value() : ""];
    }
    return counts;
  }
  std::optional<ExecutorCredits::Index> Pick(const RouteRequest& request) {
    Candidates candidates;
    return router_.Pick(credits_, request, candidates);
  }
  Router router_{7};
  uint64_t beats_ = 0;
};

}  // namespace carillon::scheduler
