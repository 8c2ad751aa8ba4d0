// The end of the run of an approval or a wait, which no executor reports.
#pragma once

#include "common/adapters/mysql/run_rows/run_writer.h"

namespace carillon::mysql {

// Ends the run, which is locked and PENDING, with this result. The caller tells its workflow run of
// it, and flushes. A failure leaves neither a dead letter nor a notice: the workflow's own does.
Status EndOpened(StoredRun& run, AttemptResult result, RunWriter& writer, WallTime now);

}  // namespace carillon::mysql
