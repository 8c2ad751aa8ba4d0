// Decides whether a batch that the store refused should be bisected. Bisecting helps only if a
// single item may have caused the error. It does not help in these cases:
// - the writer is fenced (kFenced);
// - the store does not answer (kUnavailable, kTimeout);
// - the store is broken as a whole (kBrokenStore).
#pragma once

#include "common/base/result.h"

namespace carillon::scheduler {

constexpr bool SplitHelps(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kExhausted ||
         code == ErrorCode::kCorrupt;
}

}  // namespace carillon::scheduler
