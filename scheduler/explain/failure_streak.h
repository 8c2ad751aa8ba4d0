// Counts how often in a row a job has failed, since when, and when it last succeeded. Pure: decides
// from the job's newest runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/ports/store/run_store.h"

namespace carillon::scheduler {

struct FailureStreak {
  int64_t failures = 0;  // in a row; 0 when the job does not fail
  WallTime since{};      // end of the first of them
  RunSummary last = {};  // the newest of them
  std::optional<RunSummary> last_success = {};
  // Runs that were not read may change the result: the streak may be longer, or begin behind runs
  // that are still open.
  bool open_ended = false;

  bool settled() const { return !open_ended; }
};

enum class Reaches {
  kPart,  // older runs were not read
  kAll,
};

// `runs`: the newest fire first. Runs that are open, CANCELLED or SKIPPED count neither as a
// failure nor as a success. Worked example, newest first: RUNNING, FAILED, CANCELLED, TIMED_OUT, COMPLETED is a
// streak of 2 since the end of the TIMED_OUT run.
FailureStreak StreakOf(const std::vector<RunSummary>& runs, Reaches reaches);

}  // namespace carillon::scheduler
