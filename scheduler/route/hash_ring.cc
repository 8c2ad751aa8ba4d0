#include "scheduler/route/hash_ring.h"

#include <algorithm>

#include "common/base/stable_hash.h"

namespace carillon::scheduler {
namespace {

constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;  // of SplitMix64: it visits every value

uint64_t PointOf(uint64_t executor, int number) {
  return MixBits(executor + kStep * (static_cast<uint64_t>(number) + 1));
}

}  // namespace

void HashRing::Follow(const ExecutorCredits& credits) {
  if (changes_ == credits.changes()) return;
  changes_ = credits.changes();
  std::erase_if(members_, [&](const auto& one) {
    const auto& [id, member] = one;
    const bool stays =
        credits.Find(id) == member.index && credits.Weight(member.index) == member.weight;
    if (!stays) Change(id, member, false);
    return !stays;
  });
  for (const auto& [id, index] : credits.by_id()) {
    const Member member{index, credits.Weight(index)};
    if (members_.try_emplace(id, member).second) Change(id, member, true);
  }
}

void HashRing::Change(const ExecutorId& id, const Member& member, bool add) {
  const uint64_t executor = StableHash(id.value());
  for (int i = 0; i < kPointsPerWeight * member.weight; ++i) {
    const Point point{PointOf(executor, i), member.index};
    std::vector<Point>& bucket = buckets_[point.first >> kBucketShift];
    const auto at = std::lower_bound(bucket.begin(), bucket.end(), point);
    if (add) {
      bucket.insert(at, point);
    } else if (at != bucket.end() && *at == point) {
      bucket.erase(at);
    }
  }
}

std::optional<HashRing::Index> HashRing::Pick(const ExecutorCredits& credits, uint64_t place,
                                              const IndexSet& open, const IndexSet& able,
                                              Index avoid) const {
  const bool avoids = open.Contains(avoid) && able.Contains(avoid);
  if (open.CountIn(able) <= (avoids ? 1u : 0u)) return std::nullopt;
  const size_t first = place >> kBucketShift;
  size_t walked = 0;
  // The first bucket comes twice: after the place, and at the end before it.
  for (size_t i = 0; i <= kBuckets && walked < kWalkMax; ++i) {
    const std::vector<Point>& bucket = buckets_[(first + i) % kBuckets];
    auto at =
        i == 0 ? std::lower_bound(bucket.begin(), bucket.end(), Point{place, 0}) : bucket.begin();
    for (; at != bucket.end() && walked < kWalkMax; ++at, ++walked) {
      const Index index = at->second;
      if (index != avoid && open.Contains(index) && able.Contains(index)) return index;
    }
  }
  return ByOwnHash(credits, place, open, able, avoid);
}

std::optional<HashRing::Index> HashRing::ByOwnHash(const ExecutorCredits& credits, uint64_t place,
                                                   const IndexSet& open, const IndexSet& able,
                                                   Index avoid) const {
  std::optional<Index> best;
  uint64_t highest = 0;
  for (auto at = open.FirstIn(able, 0); at; at = open.FirstIn(able, *at + 1)) {
    if (*at == avoid) continue;
    const uint64_t hash = MixBits(StableHash(credits.id(*at).value()) ^ place);
    if (best && hash <= highest) continue;
    best = at;
    highest = hash;
  }
  return best;
}

}  // namespace carillon::scheduler
