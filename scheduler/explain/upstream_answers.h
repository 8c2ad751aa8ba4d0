// Answers for people what a run that waits for runs of other jobs still waits for. The owner of its
// segment asks the same way (scheduler/ends/upstream_waits.h), for all its runs at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/ports/store/firing_store.h"
#include "common/ports/store/upstream_store.h"

namespace carillon::scheduler {

// One entry of `waits_for`, as seen from one fire.
struct AnsweredWait {
  UpstreamWait wait;
  std::optional<FireWindow> window = {};  // nullopt: it cannot be computed, and is never met
  WaitAnswer answer = {};                 // kUnknown: more runs are in it than are read
};

// The answers of now for a run of this fire, in the order of the entries. `zone`: in which the run
// tells its date (fire_zone.h).
Result<std::vector<AnsweredWait>> AnswerWaits(UpstreamStore& store,
                                              const std::vector<UpstreamWait>& waits, WallTime fire,
                                              std::string_view zone);

struct AskedNow {
  WallTime now;  // cluster time
  bool cluster_paused = false;
};
// A sentence for each entry that is not met, of a run whose due is kAwaiting.
Result<std::string> ExplainAwaiting(UpstreamStore& upstream, FiringStore& firing, const RunRow& row,
                                    AskedNow asked);

}  // namespace carillon::scheduler
