// Decides whether a batch that the store refused should be bisected: only if the error may concern
// one of its items, and not the writer (kFenced), the moment (kUnavailable, kTimeout) or the store
// as a whole (kBrokenStore).
#pragma once

#include "common/base/result.h"

namespace carillon::scheduler {

constexpr bool SplitHelps(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kExhausted ||
         code == ErrorCode::kCorrupt;
}

}  // namespace carillon::scheduler
