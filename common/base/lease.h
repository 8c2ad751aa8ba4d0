// Times on which everybody who grants, keeps or configures leases has to agree.
#pragma once

#include "common/base/time.h"

namespace carillon {

// Before the end of a lease: what runs is killed by then, for the owner may start another attempt.
inline constexpr Duration kLeaseMargin = 3s;

}  // namespace carillon
