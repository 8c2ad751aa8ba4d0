// Jobs whose fires are done in parts: shards, or one part on every host (broadcast). Pure.
//
// Place    A fire stays one run, shard 0, which is RUNNING while its parts run. Its parts are runs
//          of the kind SHARD with the same fire and schedule, and the shards 1 to shard_total
//          (common/domain/parts).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

struct JobDefinition;  // job.h

inline constexpr int64_t kFanOutMax = 1'000;  // parts of a fire
inline constexpr size_t kTotalFromBytesMax = 1'024;

// The parts of a fire share its work, and may run anywhere.
struct Shards {
  int64_t total = 1;            // 1-1,000, unless one of the next two is set
  bool alive = false;           // as many as executors can run the job when the fire begins
  int64_t max = kFanOutMax;     // 1-1,000, of `alive` and `total_from`
  std::string total_from = {};  // a template for the number, rendered when the fire begins

  bool operator==(const Shards&) const = default;
};

// One part for each executor that matches the job, and on this executor only.
struct Broadcast {
  int64_t wait_s =
      60;  // 0-604,800: a part whose host cannot take it is skipped so long after it is
           // due

  bool operator==(const Broadcast&) const = default;
};

// True if a text as the total is one for `total_from`.
bool IsTotalTemplate(std::string_view text);

// True if the fires of the job have parts.
bool FansOut(const JobDefinition& job);

// Checks `shards` and `broadcast`, and what cannot be combined with them.
Status ValidateFanOut(const JobDefinition& job);

}  // namespace carillon
