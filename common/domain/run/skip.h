// Ends a PENDING run without an attempt: SKIPPED, with a reason. Pure.
//
// Place    docs/run-states.md. The owner of a run's segment decides that the run is to be skipped;
//          the store calls these functions inside its transaction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/domain/run/run.h"

namespace carillon {

// A run to be skipped, as the owner knew it when it decided.
struct SkipItem {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int attempt = 1;
  int64_t def_version = 0;
  std::string_view reason;  // run.h reason::…
  // The due time at that moment; nullopt: any. A run that was queued or admitted since then is not
  // skipped for what was true before.
  std::optional<WallTime> due = {};
  std::string error = {};  // a sentence for users, if the reason needs one; <= kErrorMax
};

// True if the run has not changed since the skip was decided. After an edit of its job, for
// example, the reason of the skip may no longer be true.
bool DecideSkip(const RunRow& row, const SkipItem& item);

// True if `row`, just written as SKIPPED, had failed attempts: its end then counts as a failure.
// False for a node that was unreleased after a retry: its workflow decided against another attempt.
bool SkipIsFailure(const RunRow& row);

}  // namespace carillon
