// Port of the progress and the checkpoints of runs (run_save.h): one row a run at most.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h; Save: as firing_store.h.
// Always   The row of a run is deleted with the run, and when a result with `saved` completes it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/run/run_save.h"
#include "common/ports/fence.h"

namespace carillon {

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // Decides each save by DecideSave with the run's row locked, and writes those that are kept;
  // progress and checkpoint that a save does not have stay as they are. One verdict per save,
  // in order.
  virtual Result<std::vector<SaveVerdict>> Save(const std::vector<RunSave>& saves,
                                                const Fence& fence, WallTime now) = 0;
  // Those of `keys` that have a checkpoint.
  virtual Result<std::set<RunKey>> WithCheckpoint(const std::vector<RunKey>& keys) = 0;
  // nullopt: the run has no checkpoint, or there is no such run.
  virtual Result<std::optional<std::string>> ReadCheckpoint(const RunKey& key) = 0;
};

}  // namespace carillon
