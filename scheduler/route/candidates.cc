#include "scheduler/route/candidates.h"

#include "common/base/failpoint.h"

namespace carillon::scheduler {

void Candidates::Follow(const ExecutorCredits& credits, const Selector* selector, Features needs) {
  if (changes_ == credits.changes()) return;
  changes_ = credits.changes();
  all_.Clear();
  by_name_.clear();
  for (const auto& [id, index] : credits.by_id()) {
    const bool can = credits.HasAll(index, needs) || failpoint::Broken("route.features");
    if (can && (selector == nullptr || credits.Matches(index, *selector))) all_.Insert(index);
  }
}

std::optional<ExecutorCredits::Index> Candidates::FirstByName(const ExecutorCredits& credits,
                                                              const IndexSet& open,
                                                              ExecutorCredits::Index avoid) {
  if (by_name_.empty()) {
    for (const auto& [id, index] : credits.by_id()) {
      if (all_.Contains(index)) by_name_.push_back(index);
    }
  }
  for (const ExecutorCredits::Index index : by_name_) {
    if (index != avoid && open.Contains(index)) return index;
  }
  return std::nullopt;
}

}  // namespace carillon::scheduler
