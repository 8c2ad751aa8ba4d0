// Writes whose outcome is unknown: the request was sent to the store, but no reply came (kTimeout).
#pragma once

#include "common/base/result.h"

namespace carillon::scheduler {

// True if `written`, a Status or a Result, does not say whether the write was done.
template <typename Written>
bool IsUnknown(const Written& written) {
  return !written.ok() && written.code() == ErrorCode::kTimeout;
}

// Calls `write`. If the outcome is unknown, calls it once more. `write` must be idempotent.
template <typename Write>
auto RetryIfUnknown(const Write& write) {
  auto written = write();
  if (IsUnknown(written)) written = write();
  return written;
}

}  // namespace carillon::scheduler
