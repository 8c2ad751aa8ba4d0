// The parts of a fire whose job fans out: their number, and the executors that they are bound to.
// Pure: no store is asked.
//
// Place    The store asks, with the executors that it lists, in the transaction that begins the
//          fire.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/features.h"
#include "common/domain/job/fan_out.h"
#include "common/domain/selector.h"

namespace carillon {

inline constexpr size_t kPartsMax = kFanOutMax;
// Heard for the last time so long ago, a host is not alive. The stored time may be 45 s old, and an
// idle host is silent for up to 34 s before it counts as lost.
inline constexpr Duration kAliveHeard = 90s;
// So long ago, a broadcast does not ask it any more.
inline constexpr Duration kBroadcastHeard = 1h;

// An executor, as the store lists it.
struct FanOutHost {
  ExecutorId id;
  bool enabled = true;
  bool draining = false;
  std::map<std::string, std::string> labels = {};
  Features features = {};
  std::set<std::string> handlers = {};  // "app/name"
  WallTime heard = WallTime{};
};

// The hosts that may run the job.
struct FanOutNeeds {
  ExecutorId only = {};                // empty = any
  const Selector* selector = nullptr;  // nullptr = any
  Features features = {};
  std::string_view handler = {};  // empty = none
};

struct Places {
  size_t total = 0;
  std::vector<ExecutorId> hosts = {};  // broadcast: of each part, sorted; otherwise empty
  // Not empty: the fire has no parts, and its own run ends for this reason (run.h).
  std::string_view refusal = {};
  std::string error = {};  // of a total that cannot be used

  bool operator==(const Places&) const = default;
};

// True if the places depend on hosts.
bool AsksHosts(const JobDefinition& job);
// The places of a fire of this job, which fans out. `hosts` may be empty if it asks none. Those of
// `total_from` come from RenderedPlaces instead.
Places PlacesOf(const JobDefinition& job, const std::vector<FanOutHost>& hosts, WallTime now);

Places FixedPlaces(size_t total);
// Refused as kBadShardTotal: `total_from` cannot be rendered.
Places NoTotal(std::string_view why);
// The rendered text of `total_from` as a whole number, which may have blanks around it. 0 is
// refused as kZeroShards; kBadShardTotal: it is no such number, or above `max`.
Places RenderedPlaces(std::string_view text, int64_t max);
// As many parts as hosts are alive and could run one; at least one, which waits for a host, and at
// most `max`. The state of a host is not asked: a member that has just started has heard of few.
Places AlivePlaces(const std::vector<FanOutHost>& hosts, const FanOutNeeds& needs, size_t max,
                   WallTime now);
// One part for each enabled host with the labels, also if it is down or cannot run the job: then
// that is on record.
Places BroadcastPlaces(const std::vector<FanOutHost>& hosts, const FanOutNeeds& needs,
                       WallTime now);

}  // namespace carillon
