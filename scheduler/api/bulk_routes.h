// Handler of /api/bulk: one action on many jobs or runs. docs/api.md describes it.
#pragma once

#include "scheduler/api/route.h"

namespace carillon::scheduler {

inline constexpr size_t kBulkItemsMax = 1000;

Reply BulkAction(const Call& call);

}  // namespace carillon::scheduler
