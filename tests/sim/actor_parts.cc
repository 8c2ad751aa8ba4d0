// The part of the actor that has to do with jobs whose fires are done in parts.
#include <array>

#include "tests/sim/actor.h"

namespace carillon::sim {

// Decided without a random draw, as WithWindowAndJitter. An edit gives a job other parts, or none;
// fires that have begun keep theirs. The policies that end the previous run know no parts, nor may
// an edit away from parts bring one of them.
void Actor::FanOut(JobDefinition& job) const {
  if (!profile_.parts) return;
  static constexpr std::array kPolicies = {OverlapPolicy::kSkip,     OverlapPolicy::kQueueAll,
                                           OverlapPolicy::kSkip,     OverlapPolicy::kQueueAll,
                                           OverlapPolicy::kQueueOne, OverlapPolicy::kAllow};
  const auto made = static_cast<size_t>(made_);
  job.overlap_policy = kPolicies.at(made % kPolicies.size());
  if (job.overlap_policy == OverlapPolicy::kAllow) job.max_running = 1;
  switch ((made + deeds_ / 4) % 7) {
    case 0: job.shards = Shards{.alive = true}; break;
    case 1:
    case 4: job.broadcast = Broadcast{.wait_s = made % 2 == 0 ? 2 : 20}; break;
    case 2: job.shards = Shards{.total = 4}; break;
    case 3: job.shards = Shards{.alive = true, .max = 2}; break;
    case 5:
      job.shards = Shards{.total = job.overlap_policy == OverlapPolicy::kAllow ? 2 : 6};
      break;
    default: break;  // an own run only
  }
}

// Every second time, a cancel is one of a whole fire.
void Actor::PreferFires(std::vector<RunRow>& open) const {
  if (!profile_.parts || deeds_ % 2 != 0) return;
  std::erase_if(open, [](const RunRow& row) { return IsPart(row.key); });
}

// The retry of a fire is one of some of its parts; that of a part names itself.
void Actor::ChooseParts(const RunRow& row, RetryRequest& request) const {
  if (IsPart(row.key) || (row.flags & run_flag::kParts) == 0) return;
  if (deeds_ % 3 == 0) request.parts = PartChoice{.which = PartChoice::Which::kAll};
  if (deeds_ % 3 == 1) {
    request.parts = PartChoice{.which = PartChoice::Which::kNamed, .indexes = {0}};
  }
}

}  // namespace carillon::sim
