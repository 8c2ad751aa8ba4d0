#include "scheduler/route/router.h"

namespace carillon::scheduler {
namespace {

std::optional<CreditBook::Index> RoundRobin(const CreditBook& credits, const RouteRequest& request,
                                            RouteMemory& memory) {
  std::optional<CreditBook::Index> last_choice;
  for (size_t i = 0; i < credits.size(); ++i) {
    const CreditBook::Index at = (memory.next + i) % credits.size();
    if (credits.Available(at, request.slots) <= 0) continue;
    if (at == request.avoid) {
      last_choice = at;
      continue;
    }
    memory.next = at + 1;
    return at;
  }
  return last_choice;
}

struct NamedPolicy {
  std::string_view name;
  RoutePolicy policy;
};
constexpr NamedPolicy kPolicies[] = {
    {"round_robin", RoundRobin},
};

}  // namespace

RoutePolicy FindRoutePolicy(std::string_view name) {
  for (const NamedPolicy& known : kPolicies) {
    if (known.name == name) return known.policy;
  }
  return nullptr;
}

std::optional<CreditBook::Index> Router::Pick(const CreditBook& credits,
                                              const RouteRequest& request) {
  if (request.pinned.empty()) return policy_(credits, request, memory_);
  const CreditBook::Index at = credits.Find(request.pinned);
  if (at == CreditBook::kNone || credits.Available(at, request.slots) <= 0) return std::nullopt;
  return at;
}

}  // namespace carillon::scheduler
