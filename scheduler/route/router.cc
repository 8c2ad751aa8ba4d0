#include "scheduler/route/router.h"

#include "common/base/failpoint.h"

namespace carillon::scheduler {
namespace {

using Index = ExecutorCredits::Index;

std::optional<Index> Pinned(const ExecutorCredits& credits, const RouteRequest& request) {
  const Index at = credits.Find(request.pinned);
  if (at == ExecutorCredits::kNone || credits.Available(at, request.slots) <= 0) {
    return std::nullopt;
  }
  const bool may = credits.HasAll(at, request.needs) || failpoint::Broken("route.features");
  const bool matches = request.selector == nullptr || credits.Matches(at, *request.selector);
  return may && matches ? std::optional(at) : std::nullopt;
}

// The first open and able executor from `from` on, in a circle; not `avoid`.
std::optional<Index> FirstFrom(const IndexSet& open, const IndexSet& able, Index from,
                               Index avoid) {
  for (const Index begin : {from, Index{0}}) {
    std::optional<size_t> found = open.FirstIn(able, begin);
    if (found == avoid) found = open.FirstIn(able, avoid + 1);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Index> Router::Pick(const ExecutorCredits& credits, const RouteRequest& request,
                                  Candidates& candidates) {
  if (!request.pinned.empty()) return Pinned(credits, request);
  candidates.Follow(credits, request.selector, request.needs);
  const IndexSet& open = credits.open(request.slots);
  const IndexSet& able = candidates.all();
  std::optional<Index> picked;
  switch (request.routing) {
    case Routing::kRoundRobin:
      picked = request.slots == SlotClass::kLight ? InLightGroup(open, able, request.avoid)
                                                  : RoundRobin(open, able, request.avoid);
      break;
    case Routing::kRandom: picked = Random(open, able, request.avoid); break;
    case Routing::kLeastLoaded:
      picked =
          Lowest(credits, request, able, [&](Index at) { return credits.Busy(at, request.slots); });
      break;
    case Routing::kWeighted:
      picked = Lowest(credits, request, able,
                      [&](Index at) { return credits.WeightedLoad(at, request.slots); });
      break;
    case Routing::kConsistentHash:
      ring_.Follow(credits);
      picked = ring_.Pick(credits, request.place, open, able, request.avoid);
      break;
    case Routing::kFirstHealthy:
      picked = candidates.FirstByName(credits, open, request.avoid);
      break;
  }
  if (!picked && open.Contains(request.avoid) && able.Contains(request.avoid)) {
    return request.avoid;
  }
  return picked;
}

std::optional<Index> Router::RoundRobin(const IndexSet& open, const IndexSet& able, Index avoid) {
  const auto found = FirstFrom(open, able, next_, avoid);
  if (found) next_ = *found + 1;
  return found;
}

std::optional<Index> Router::InLightGroup(const IndexSet& open, const IndexSet& able, Index avoid) {
  const bool goes_on =
      light_left_ > 0 && light_ != avoid && open.Contains(light_) && able.Contains(light_);
  if (!goes_on) {
    const auto found = RoundRobin(open, able, avoid);
    if (!found) return std::nullopt;
    light_ = *found;
    light_left_ = kLightGroup;
  }
  --light_left_;
  return light_;
}

std::optional<Index> Router::Random(const IndexSet& open, const IndexSet& able, Index avoid) {
  const bool avoids = open.Contains(avoid) && able.Contains(avoid);
  const size_t count = open.CountIn(able);
  if (count <= (avoids ? 1 : 0)) return std::nullopt;
  // One place less if one is avoided: the last one stands for it.
  const size_t drawn = rng_.Below(count - (avoids ? 1 : 0));
  const Index found = open.NthIn(able, drawn);
  return avoids && found == avoid ? open.NthIn(able, count - 1) : found;
}

// Equally busy executors are chosen in turn, so that several idle ones share the load.
template <typename Cost>
std::optional<Index> Router::Lowest(const ExecutorCredits& credits, const RouteRequest& request,
                                    const IndexSet& able, const Cost& cost) {
  const IndexSet& open = credits.open(request.slots);
  const size_t count = open.CountIn(able);
  const bool exact = count <= kExactMax;
  std::optional<Index> choice;
  double least = 0;
  Index from = next_;
  for (size_t i = 0; i < (exact ? count : size_t{kDrawn}); ++i) {
    // The first one after a random place, which is quicker to find than the n-th one. One after a
    // gap is drawn more often, and then is busier than the others.
    if (!exact) from = rng_.Below(credits.size());
    const auto at = FirstFrom(open, able, from, request.avoid);
    if (!at) break;
    from = *at + 1;
    const double found = cost(*at);
    if (choice && found >= least) continue;
    choice = at;
    least = found;
  }
  if (choice) next_ = *choice + 1;
  return choice;
}

}  // namespace carillon::scheduler
