// What the warden does about leases. Pure.
//
// Place    DESIGN rule 2 of leases: the warden, not the daemon, refuses to start after
//          lease end - 3 s, and kills then, without grace, what its policy would retry.
// Time     CLOCK_BOOTTIME.
#pragma once

#include "common/base/lease.h"

namespace carillon::executor {

using carillon::kLeaseMargin;

struct WatchedLease {
  SteadyTime lease_end;
  bool kill_at_lease_end = true;
};

enum class LeaseAction { kNone, kRefuseStart, kKill };

// An attempt that is about to be started.
LeaseAction DecideAtStart(const WatchedLease& lease, SteadyTime now);
// A running attempt.
LeaseAction DecideWhileRunning(const WatchedLease& lease, SteadyTime now);
// When DecideWhileRunning can next differ from kNone; SteadyTime::max() = never.
SteadyTime NextLeaseCheck(const WatchedLease& lease);
// A renewal moves the end later, never earlier.
SteadyTime RenewedEnd(SteadyTime current, SteadyTime renewed);

}  // namespace carillon::executor
