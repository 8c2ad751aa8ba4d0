// States of a bulk action and of its items, and the transitions between them. Pure.
//
// Place    docs/api.md, POST /api/bulk; executed by scheduler/bulk/bulk_worker.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace carillon {

enum class BulkState {
  kRunning,
  kDone,
  kCancelled,  // items already begun are finished; items not begun are skipped
  kStopped,    // the user lost the permission; items not begun are skipped
};
std::string_view Name(BulkState state);  // "RUNNING", …
Result<BulkState> ParseBulkState(std::string_view text);

enum class BulkResult { kPending, kDone, kError, kSkipped };
std::string_view Name(BulkResult result);  // "pending", …
Result<BulkResult> ParseBulkResult(std::string_view text);

}  // namespace carillon
