#include "common/adapters/mysql/workflow/opened_nodes.h"

namespace carillon::mysql {

Status EndOpened(StoredRun& run, AttemptResult result, RunWriter& writer, WallTime now) {
  run.row.flags &= ~run_flag::kNode;
  if (result.started == WallTime{}) result.started = run.started == WallTime{} ? now : run.started;
  const RunChange change{.state = result.state,
                         .attempt = run.row.attempt,
                         .def_version = run.row.def_version,
                         .reason = result.reason,
                         .store_result = true};
  return writer.Change(run, change, result, now);
}

}  // namespace carillon::mysql
