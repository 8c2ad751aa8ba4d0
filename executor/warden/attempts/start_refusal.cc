#include "executor/warden/attempts/start_refusal.h"

#include "executor/leases/lease_watch.h"

namespace carillon::executor {

std::optional<StartRefusal> RefusalAtArrival(const ArrivedStart& start) {
  if (start.ran_before) {
    return StartRefusal{RunState::kLost, reason::kLeaseEnded,
                        "this attempt already ran here under another claim"};
  }
  if (start.running >= kRunningMax) {
    return StartRefusal{RunState::kFailed, reason::kHost, "too many processes are running"};
  }
  return std::nullopt;
}

std::optional<StartRefusal> RefusalWhenDue(const DueStart& start, SteadyTime now) {
  if (start.warden_stops) {
    return StartRefusal{RunState::kLost, reason::kNotStarted, "the warden is stopping"};
  }
  if (start.cancelled) {
    return StartRefusal{RunState::kCancelled, reason::kCancelRequested,
                        "cancelled before it started"};
  }
  if (DecideAtStart({start.lease_end, true}, now) != LeaseAction::kNone) {
    return StartRefusal{RunState::kLost, reason::kNotStarted,
                        "its lease expired before it could start"};
  }
  return std::nullopt;
}

}  // namespace carillon::executor
