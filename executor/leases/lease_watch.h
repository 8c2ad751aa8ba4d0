// Decides when the end of a lease forbids a start or requires a kill. Pure.
//
// Always   The warden, not the daemon, enforces leases. From 3 s before the end of a lease the
//          warden starts nothing under this lease. It also kills, without grace, attempts that are
//          retried when lost.
// Time     CLOCK_BOOTTIME.
#pragma once

#include "common/base/lease.h"

namespace carillon::executor {

using carillon::kLeaseMargin;

// A lease, and whether its end kills the attempt (on_lost: retry).
struct WatchedLease {
  SteadyTime lease_end;
  bool kill_at_lease_end = true;
};

enum class LeaseAction { kNone, kRefuseStart, kKill };

// For an attempt that is about to be started.
LeaseAction DecideAtStart(const WatchedLease& lease, SteadyTime now);
// For a running attempt.
LeaseAction DecideWhileRunning(const WatchedLease& lease, SteadyTime now);
// The time at which DecideWhileRunning can next differ from kNone; SteadyTime::max() = never.
SteadyTime NextLeaseCheck(const WatchedLease& lease);
// The end of a lease that a member granted in its answer. The lease is counted from the sending of
// the request, by this host's clock, because the member cannot have granted it earlier.
SteadyTime GrantedEnd(int64_t sent_us, Duration lease, SteadyTime now);
// The end of a lease after a renewal, which moves it later, never earlier.
SteadyTime RenewedEnd(SteadyTime current, SteadyTime renewed);

}  // namespace carillon::executor
