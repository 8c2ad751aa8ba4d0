#include "executor/leases/lease_watch.h"

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon::executor {

LeaseAction DecideAtStart(const WatchedLease& lease, SteadyTime now) {
  if (failpoint::Broken("lease.daemon_checks")) return LeaseAction::kNone;
  return now >= lease.lease_end - kLeaseMargin ? LeaseAction::kRefuseStart : LeaseAction::kNone;
}

LeaseAction DecideWhileRunning(const WatchedLease& lease, SteadyTime now) {
  if (failpoint::Broken("lease.daemon_checks")) return LeaseAction::kNone;
  return now >= NextLeaseCheck(lease) ? LeaseAction::kKill : LeaseAction::kNone;
}

SteadyTime NextLeaseCheck(const WatchedLease& lease) {
  return lease.kill_at_lease_end ? lease.lease_end - kLeaseMargin : SteadyTime::max();
}

SteadyTime GrantedEnd(int64_t sent_us, Duration lease, SteadyTime now) {
  if (failpoint::Broken("lease.from_receipt")) return now + lease;
  return SteadyTime(Duration(sent_us)) + lease;
}

SteadyTime RenewedEnd(SteadyTime current, SteadyTime renewed) { return std::max(current, renewed); }

}  // namespace carillon::executor
