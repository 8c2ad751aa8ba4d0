#include "common/domain/run/run_save.h"

namespace carillon {

SaveVerdict DecideSave(const RunRow* run, const std::optional<SavePosition>& last,
                       const RunSave& save) {
  // A save that names another segment was checked against the wrong fence.
  const bool runs = run != nullptr && run->state == RunState::kRunning &&
                    run->attempt == save.attempt && run->claim_token == save.token &&
                    run->segment == save.segment;
  if (!runs) return SaveVerdict::kRefused;
  if (last && SavePosition{save.attempt, save.seq} <= *last) return SaveVerdict::kKeptBefore;
  return SaveVerdict::kKept;
}

}  // namespace carillon
