// A part of a fire, as users see it. A fire whose job fans out has an own run (shard 0), which runs
// nowhere, and parts (shard 1 and higher), which do its work.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/domain/run/run.h"

namespace carillon {

struct RunPart {
  RunKey key;
  RunState state = RunState::kPending;
  int attempt = 1;
  std::string reason = {};
  ExecutorId executor = {};         // of the last claim
  ExecutorId pinned_executor = {};  // the only one that may run it; empty = any
  WallTime due = kNever;            // as in RunRow
  WallTime claimed = WallTime{};
  WallTime started = WallTime{};  // zero: not started
  WallTime ended = WallTime{};    // zero: not ended

  bool operator==(const RunPart&) const = default;
};

// Users count parts from 0.
constexpr uint32_t IndexOfPart(const RunKey& key) { return key.shard - 1; }
constexpr bool IsPart(const RunKey& key) { return key.shard > 0; }
// The own run of the fire to which the run belongs; of a run without parts the run itself.
constexpr RunKey OwnRunOf(const RunKey& key) { return {key.fire, key.schedule_id, 0}; }
// True for the own run of a fire that has begun by parts. One that ran at an executor since,
// because its job lost its shards, still has the flag.
inline bool IsInParts(const RunRow& run) {
  return !IsPart(run.key) && (run.flags & run_flag::kParts) != 0 && run.executor.empty();
}

// The number of parts of a fire in each state; states without parts are left out.
using PartCounts = std::map<RunState, int64_t>;

}  // namespace carillon
