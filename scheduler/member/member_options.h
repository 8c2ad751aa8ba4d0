// Limits and intervals of the scheduler's rooms.
#pragma once

#include <string>
#include <vector>

#include "common/base/overload_levels.h"
#include "common/ports/coordinator.h"
#include "common/ports/events/event_topics.h"
#include "common/wire/messages/task_codec.h"

namespace carillon::scheduler {

// The options that may change while the member runs (Member::Tune).
struct MemberTuning {
  Duration horizon = 30s;          // how far ahead fires are planned
  Duration dispatch_timeout = 5s;  // a run not claimed within this time is published elsewhere
  BusFormat bus_format = BusFormat::kBinary;
  Duration retention = 24h * 14;             // of finished runs
  int keep_last_runs = 0;                    // finished runs of each job that are kept, however old
  std::vector<OverloadLevel> overload = {};  // from which runs are shed; empty: never

  bool operator==(const MemberTuning&) const = default;
};

struct MemberOptions {
  MemberInfo self = {};
  uint64_t seed = 1;
  MemberTuning tuning = {};

  // Planning.
  Duration scan_every = 500ms;  // between scans for due schedules and for due runs
  size_t plan_batches_per_step = 4;
  size_t wheel_capacity = 400'000;  // runs in memory; planning stops at three quarters of it
  size_t feed_batches_max = 512;    // batches of at most kBatchRowsMax runs
  size_t definition_cache_max = 50'000;
  size_t definition_cache_bytes_max = size_t{64} << 20;
  size_t schedule_cache_max = 50'000;

  // Firing.
  Duration dispatch_interval = 5ms;   // minimum between two dispatches, so that bundles fill
  Duration ageing_per_priority = 1s;  // one point of priority is worth this much waiting
  size_t dispatch_per_step = 4096;    // runs
  int prefetch_max = 1024;            // tasks an executor may hold beyond its free slots

  // Claims and results.
  size_t claim_queue_max = 1024;    // batches
  Duration claim_interval = 4ms;    // minimum between two writes, unless a batch is full
  Duration result_interval = 25ms;  // longer: a result is less urgent than a start
  size_t result_records_held_max = 10'000;
  size_t result_bytes_held_max = 64u << 20;  // of results in memory while the store is unavailable

  // Liveness and ownership.
  Duration lease = 20s;                // of an attempt
  Duration proof_max_age = 4s;         // with an older proof of ownership, leases are not renewed
  Duration proof_every = 1s;           // between two proofs of ownership by the store
  Duration own_loss_margin = 5s;       // from a lease's end until its attempt is declared lost
  Duration takeover_loss_margin = 6s;  // the same, for leases of earlier owners
  Duration heartbeat = 2s;             // of executors
  Duration quiet_each = 1428us;        // 1/700 s, for each idle executor (fleet_pace.h)
  Duration executor_lost = 10s;        // silence after which an executor is lost
  Duration incarnation_wait = 6s;      // silence after which another process replaces an executor
  size_t leases_max = 500'000;
  Duration clock_offset_max = 500ms;  // between this host's clock and the database's

  std::string dead_letter_topic = {};  // for readers outside; empty: dead letters are not published
  std::vector<EventTopic> event_topics = {};  // outside, whose events the leader accepts

  // Housekeeping.
  Duration maintain_every = 5min;
  Duration executor_write_every = 5s;  // between two writes of the executors' health by the leader
};

}  // namespace carillon::scheduler
