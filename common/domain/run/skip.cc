#include "common/domain/run/skip.h"

#include "common/domain/run/returns.h"

namespace carillon {

bool DecideSkip(const RunRow& row, const SkipItem& item) {
  return row.state == RunState::kPending && row.segment == item.segment &&
         row.attempt == item.attempt && row.def_version == item.def_version &&
         (!item.due || row.due == *item.due);
}

bool SkipIsFailure(const RunRow& row) {
  const bool by_its_workflow = IsUnreleased(row.due);
  return row.state == RunState::kSkipped && TriesOf(row) > 1 && !by_its_workflow;
}

}  // namespace carillon
