#include "scheduler/route/router.h"

namespace carillon::scheduler {
namespace {

bool MayTake(const ExecutorCredits& credits, ExecutorCredits::Index at,
             const RouteRequest& request) {
  return credits.Available(at, request.slots) > 0 &&
         (!request.secrets || credits.takes_secrets(at)) &&
         (request.selector == nullptr || credits.Matches(at, *request.selector));
}

}  // namespace

std::optional<ExecutorCredits::Index> Router::Pick(const ExecutorCredits& credits,
                                                   const RouteRequest& request) {
  if (!request.pinned.empty()) {
    const ExecutorCredits::Index at = credits.Find(request.pinned);
    const bool may = at != ExecutorCredits::kNone && credits.Available(at, request.slots) > 0 &&
                     (!request.secrets || credits.takes_secrets(at));
    return may ? std::optional(at) : std::nullopt;
  }
  std::optional<ExecutorCredits::Index> picked;
  switch (request.routing) {
    case Routing::kRoundRobin: picked = RoundRobin(credits, request); break;
    case Routing::kRandom: picked = Random(credits, request); break;
    case Routing::kLeastLoaded: picked = LeastLoaded(credits, request); break;
    case Routing::kFirstHealthy: picked = FirstHealthy(credits, request); break;
  }
  const ExecutorCredits::Index avoid = request.avoid;
  if (!picked && avoid < credits.size() && MayTake(credits, avoid, request)) return avoid;
  return picked;
}

std::optional<ExecutorCredits::Index> Router::RoundRobin(const ExecutorCredits& credits,
                                                         const RouteRequest& request) {
  for (size_t i = 0; i < credits.size(); ++i) {
    const ExecutorCredits::Index at = (next_ + i) % credits.size();
    if (at == request.avoid || !MayTake(credits, at, request)) continue;
    next_ = at + 1;
    return at;
  }
  return std::nullopt;
}

// Chooses uniformly in one pass: the n-th candidate replaces the choice with probability 1/n.
std::optional<ExecutorCredits::Index> Router::Random(const ExecutorCredits& credits,
                                                     const RouteRequest& request) {
  std::optional<ExecutorCredits::Index> choice;
  uint64_t candidates = 0;
  for (ExecutorCredits::Index at = 0; at < credits.size(); ++at) {
    if (at == request.avoid || !MayTake(credits, at, request)) continue;
    if (rng_.Below(++candidates) == 0) choice = at;
  }
  return choice;
}

// Equally busy executors are chosen in turn, so that several idle ones share the load.
std::optional<ExecutorCredits::Index> Router::LeastLoaded(const ExecutorCredits& credits,
                                                          const RouteRequest& request) {
  std::optional<ExecutorCredits::Index> choice;
  double least = 0;
  for (size_t i = 0; i < credits.size(); ++i) {
    const ExecutorCredits::Index at = (next_ + i) % credits.size();
    if (at == request.avoid || !MayTake(credits, at, request)) continue;
    const double busy = credits.Busy(at, request.slots);
    if (choice && busy >= least) continue;
    choice = at;
    least = busy;
  }
  if (choice) next_ = *choice + 1;
  return choice;
}

std::optional<ExecutorCredits::Index> Router::FirstHealthy(const ExecutorCredits& credits,
                                                           const RouteRequest& request) {
  for (const auto& [id, at] : credits.by_id()) {
    if (at != request.avoid && MayTake(credits, at, request)) return at;
  }
  return std::nullopt;
}

}  // namespace carillon::scheduler
