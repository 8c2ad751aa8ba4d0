// States of a bulk action and of its items, and the transitions between them. Pure.
//
// Place    docs/api.md, POST /api/bulk; done by scheduler/bulk/bulk_worker.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace carillon {

enum class BulkState {
  kRunning,
  kDone,
  kCancelled,  // what was begun is finished, the rest skipped
  kStopped,    // who asked may not any more; the rest is skipped
};
std::string_view Name(BulkState state);  // "RUNNING", …
Result<BulkState> ParseBulkState(std::string_view text);

enum class BulkResult { kPending, kDone, kError, kSkipped };
std::string_view Name(BulkResult result);  // "pending", …
Result<BulkResult> ParseBulkResult(std::string_view text);

}  // namespace carillon
