// Limits of the scheduler's rooms, by name.
#pragma once

#include "common/ports/coordinator.h"
#include "common/wire/task_codec.h"

namespace carillon::scheduler {

// What may change while the member runs (Member::Tune).
struct MemberTuning {
  Duration horizon = 30s;  // how far ahead fires become runs
  Duration dispatch_timeout = 5s;
  BusFormat bus_format = BusFormat::kBinary;
  Duration retention = 24h * 14;

  bool operator==(const MemberTuning&) const = default;
};

struct MemberOptions {
  MemberInfo self = {};
  uint64_t seed = 1;
  MemberTuning tuning = {};

  // Planning.
  Duration scan_every = 500ms;  // schedules and pending runs
  size_t plan_batches_per_step = 4;
  size_t wheel_capacity = 400'000;  // runs in memory; planning stops at three quarters of it
  size_t feed_batches_max = 512;    // batches of at most kBatchRowsMax runs
  size_t definition_cache_max = 50'000;
  size_t definition_cache_bytes_max = size_t{64} << 20;
  size_t schedule_cache_max = 50'000;

  // Firing.
  Duration dispatch_gap = 5ms;        // between dispatches: a bundle is one record
  Duration ageing_per_priority = 1s;  // one point of priority is worth this much waiting
  size_t dispatch_per_step = 4096;
  int prefetch_max = 1024;  // tasks an executor may hold beyond its free slots

  // Claims and results.
  size_t claim_queue_max = 1024;  // batches of executors
  Duration claim_gap = 4ms;       // between two writes of claims that are not full
  Duration result_gap = 25ms;     // nobody waits for a result as a start waits for its claim
  size_t result_records_held_max = 10'000;
  size_t result_bytes_held_max = 64u << 20;  // of results, during an outage of the database

  // Liveness and ownership.
  Duration lease = 20s;
  Duration proof_max_age = 4s;
  Duration proof_every = 1s;
  Duration own_loss_margin = 5s;       // after a lease this owner granted
  Duration takeover_loss_margin = 6s;  // after the epoch's commit, for leases of earlier owners
  Duration heartbeat = 2s;
  Duration executor_lost = 10s;
  Duration incarnation_wait = 6s;  // before a second executor of one id is refused
  size_t leases_max = 500'000;
  Duration clock_offset_max = 500ms;

  // Housekeeping.
  Duration maintain_every = 5min;
  Duration executor_write_every = 5s;
};

}  // namespace carillon::scheduler
