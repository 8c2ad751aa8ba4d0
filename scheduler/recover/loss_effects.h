// Tells the other rooms the effects of attempts that ended without a result.
#pragma once

#include <string_view>
#include <vector>

#include "common/ports/store/firing_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/handover/signals.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

// The ports of the rooms that write such ends.
struct LossPorts {
  const Clock& clock;
  FiringStore& store;
  const ClusterClock& cluster;
  SegmentTable& segments;
  FencedWriter& fences;
  LeaseTable& leases;
  RunFeed& feed;
  RunEventQueue& events;
  Metrics& metrics;
  const MemberSignals& signals;
};

// Raises the signals, counts final states, and feeds the next attempts, whose retries are counted
// with the label `cause`.
void TellEffects(const LossPorts& ports, const OwnedView& view, std::string_view cause,
                 const std::vector<RunEffect>& effects);

}  // namespace carillon::scheduler
