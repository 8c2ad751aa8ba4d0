// True if a batch that the store refused is worth trying in halves: it may object to an item, and
// does not object to the writer, the moment or itself (kBrokenStore).
#pragma once

#include "common/base/result.h"

namespace carillon::scheduler {

constexpr bool SplitHelps(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kExhausted ||
         code == ErrorCode::kCorrupt;
}

}  // namespace carillon::scheduler
