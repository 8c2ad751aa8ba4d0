// Lease times that must be the same wherever leases are granted, held or configured.
#pragma once

#include "common/base/time.h"

namespace carillon {

// A running attempt must be dead this long before its lease ends. At the end of the lease the owner
// may start another attempt.
inline constexpr Duration kLeaseMargin = 3s;

}  // namespace carillon
