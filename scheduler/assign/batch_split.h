// Whether a batch that the store refused is worth trying in halves: it objects to an item, not to
// the writer or the moment.
#pragma once

#include "common/base/result.h"

namespace carillon::scheduler {

constexpr bool SplitHelps(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kExhausted ||
         code == ErrorCode::kCorrupt;
}

}  // namespace carillon::scheduler
