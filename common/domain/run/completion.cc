#include "common/domain/run/completion.h"

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon {

std::vector<CompletionTarget> TargetsOf(const RunRow& row) {
  std::vector<CompletionTarget> targets;
  if ((row.flags & run_flag::kDelay) != 0) targets.push_back(CompletionTarget::kSchedule);
  if ((row.flags & run_flag::kDependents) != 0) targets.push_back(CompletionTarget::kDependents);
  if ((row.flags & run_flag::kNode) != 0) targets.push_back(CompletionTarget::kWorkflow);
  if ((row.flags & run_flag::kPart) != 0) targets.push_back(CompletionTarget::kParts);
  return targets;
}

std::string_view Name(CompletionTarget target) {
  switch (target) {
    case CompletionTarget::kSchedule: return "schedule";
    case CompletionTarget::kDependents: return "dependents";
    case CompletionTarget::kWorkflow: return "workflow";
    case CompletionTarget::kParts: return "parts";
  }
  return "";
}

WallTime EndOf(const RunRow& row, WallTime reported) { return std::max(reported, row.claimed); }

std::optional<WallTime> DecideNextFire(const DelayWait& wait, const RunCompletion& end,
                                       WallTime now) {
  const bool awaited = wait.awaited == end.key.fire || failpoint::Broken("delay.any_end");
  if (!awaited) return std::nullopt;
  return std::max(std::min(end.ended, now) + wait.every, end.key.fire + 1us);
}

WallTime FireAfterLoss(const DelayWait& wait, WallTime now) {
  return std::max(now, wait.awaited + 1us);
}

}  // namespace carillon
