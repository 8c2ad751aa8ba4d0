// Decides whether a batch that the store refused should be bisected. That helps only if a single
// item may have caused the error. It does not help if the writer is fenced (kFenced), the store
// does not answer (kUnavailable, kTimeout), or the store is broken as a whole (kBrokenStore).
#pragma once

#include "common/base/result.h"

namespace carillon::scheduler {

constexpr bool SplitHelps(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kExhausted ||
         code == ErrorCode::kCorrupt;
}

}  // namespace carillon::scheduler
