// Computes from the newest runs of a job how often in a row it has failed, since when, and when it
// last succeeded. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/ports/store/run_store.h"

namespace carillon::scheduler {

struct FailureStreak {
  int64_t failures = 0;  // in a row; 0 = the job does not fail
  WallTime since{};      // end of the first failure of the streak
  RunSummary last = {};  // the latest failure of the streak
  std::optional<RunSummary> last_success = {};
  // True if no success was found and there are older runs that were not read. These runs may
  // change the result.
  bool open_ended = false;

  bool settled() const { return !open_ended; }
};

enum class Reaches {
  kPart,  // older runs were not read
  kAll,
};

// `runs` begins with the newest fire. Runs that are open, CANCELLED or SKIPPED are ignored.
//
//   RUNNING, FAILED, CANCELLED, TIMED_OUT, COMPLETED (newest first): 2 failures in a row, since the
//   end of the TIMED_OUT run
FailureStreak StreakOf(const std::vector<RunSummary>& runs, Reaches reaches);

}  // namespace carillon::scheduler
