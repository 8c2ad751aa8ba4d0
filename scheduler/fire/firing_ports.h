// The ports and options that the firing loop and its parts share.
//
// Place    firing_loop owns them; run_preparation, run_skips and lane_dispatch refer to them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live_settings.h"
#include "common/base/metrics/metrics.h"
#include "common/base/overload_levels.h"
#include "scheduler/definitions/definition_cache.h"
#include "scheduler/fire/dispatcher.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/handover/signals.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

struct FiringPorts {
  const Clock& clock;
  const ClusterClock& cluster;
  const SegmentTable& segments;
  const LeaseTable& leases;
  ExecutorTable& executors;
  DefinitionCache& definitions;
  RunFeed& feed;
  RunEventQueue& events;
  LoadQueue& loads;
  SkipQueue& skips;
  BusProducer& producer;
  const Signer& signer;
  Metrics& metrics;
  // While the whole cluster is paused, due runs wait. When the pause ends, each of them is started
  // or skipped.
  const LiveSettings& settings;
  const MemberSignals& signals;
  // Takes a due run of a workflow, or of a job that fans out, with the definition of its job.
  // Returns false if too many wait already.
  std::function<bool(const PendingRun&, const Definition&)> begin_workflow =
      [](const PendingRun&, const Definition&) { return true; };
  // The number of members that share the segments, this one included.
  std::function<int()> members = [] { return 1; };
  // False while the bus is known to be away. What was begun then would wait for it in parts.
  std::function<bool()> bus_answers = [] { return true; };
  // For how long the executor to which the part is bound could not have taken it; nullopt: it can,
  // as far as is known.
  std::function<std::optional<Duration>(const PendingRun&, const Definition&)> host_down_for =
      [](const PendingRun&, const Definition&) { return std::nullopt; };
  // True if that executor does not match the selector of the job any more, by what was read after
  // this time; false: it does, or nobody knows.
  std::function<bool(const PendingRun&, const Definition&, SteadyTime)> host_left =
      [](const PendingRun&, const Definition&, SteadyTime) { return false; };
};

struct FiringOptions {
  MemberId self;
  size_t capacity = 400'000;          // runs in memory
  Duration dispatch_timeout = 5s;     // a run not claimed within this time is published elsewhere
  Duration dispatch_interval = 5ms;   // between two dispatches, so that bundles fill
  size_t dispatch_per_step = 4096;    // runs
  Duration ageing_per_priority = 1s;  // waiting time worth one point of priority (ready_heap.h)
  int prefetch_max = 1024;            // tasks sent to an executor beyond its free slots
  uint64_t seed = 1;
  BusFormat bus_format = BusFormat::kBinary;
  std::vector<OverloadLevel> overload = {};
};

}  // namespace carillon::scheduler
