// Writes the runs of nodes that a step releases or opens.
#pragma once

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/workflow/workflow_release.h"

namespace carillon::mysql {

// The flags that a release decides.
inline constexpr uint32_t kFlagsOfRelease = run_flag::kOnBehalf | run_flag::kRules;

class ReleasedRuns {
 public:
  // `run` has its new values. `until`: of a node that opens; zero = it has no end. Returns the
  // bytes of its parameters and rules.
  size_t Add(const StoredRun& run, const NodeRelease& release, WallTime until = {});
  // True if no more fits into one statement.
  bool IsFull() const { return bytes_ >= kReleasedBytesPerStep; }
  // kConflict: a run is not PENDING any more.
  Status Write(Session& session);

 private:
  JsonRows rows_;
  size_t bytes_ = 0;  // of parameters and rules
};

}  // namespace carillon::mysql
