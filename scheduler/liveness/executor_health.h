// Derives the health of an executor from how long it has been silent, by what it has announced.
// Pure: no clock, no I/O.
#pragma once

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/time.h"
#include "common/ports/store/executor_store.h"
#include "scheduler/liveness/fleet_pace.h"

namespace carillon::scheduler {

struct HealthRules {
  Duration heartbeat = 2s;
  int missed_until_unhealthy = 3;
  Duration lost_after = 10s;
};

struct Contact {
  Duration silence{};  // since the last message
  Duration next_in{};  // as the last heartbeat announced; zero: nothing
  Duration ended{};    // since the end of its stream; zero: it has one
};

// The silence that the last heartbeat announced beyond the usual one. An executor that announces
// the usual interval, or is older than announcements, is judged by the rules alone.
inline Duration Announced(Duration next_in, const HealthRules& rules) {
  if (next_in <= rules.heartbeat || failpoint::Broken("quiet.silence_fixed")) return {};
  return std::min(next_in, std::max(kQuietMax, rules.heartbeat));
}

// By default an executor is unhealthy after three missed heartbeats, and lost after 10 s. Without a
// stream it cannot claim, whatever it has announced.
inline ExecutorState HealthOf(const Contact& contact, const HealthRules& rules) {
  const Duration missed = rules.heartbeat * rules.missed_until_unhealthy;
  const Duration announced = Announced(contact.next_in, rules);
  const bool quiet = announced > Duration{};
  const Duration lost = quiet ? std::max(rules.lost_after, 2 * announced + 4s) : rules.lost_after;
  const Duration gone = quiet ? std::max(rules.lost_after, announced + 4s) : rules.lost_after;
  if (contact.silence >= lost || contact.ended >= gone) return ExecutorState::kLost;
  const Duration late = quiet ? std::max(missed, announced + 2s) : missed;
  if (contact.silence > late || contact.ended > missed) return ExecutorState::kUnhealthy;
  return ExecutorState::kOnline;
}

// The silence of a process after which another one may replace it.
inline Duration ReplacedAfter(Duration next_in, Duration wait, const HealthRules& rules) {
  const Duration announced = Announced(next_in, rules);
  if (announced <= Duration{} || failpoint::Broken("quiet.admit_fixed")) return wait;
  return std::max(wait, announced + 2s);
}

}  // namespace carillon::scheduler
