#include "scheduler/assign/rendezvous.h"

#include <tuple>

#include "common/base/stable_hash.h"

namespace carillon::scheduler {
namespace {

uint64_t Mix(uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 33);
}

}  // namespace

std::map<SegmentId, MemberId> AssignSegments(uint32_t segment_count,
                                             const std::vector<MemberId>& members) {
  std::map<SegmentId, MemberId> owners;
  if (members.empty()) return owners;
  for (uint32_t number = 0; number < segment_count; ++number) {
    const MemberId* best = nullptr;
    uint64_t best_weight = 0;
    for (const MemberId& member : members) {
      const uint64_t weight = Mix(StableHash(member.value()) ^ Mix(number + 1));
      if (best == nullptr || std::tie(weight, member) > std::tie(best_weight, *best)) {
        best = &member;
        best_weight = weight;
      }
    }
    owners.emplace(SegmentId(number), *best);
  }
  return owners;
}

}  // namespace carillon::scheduler
