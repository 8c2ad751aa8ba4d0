#include "common/domain/queue/group.h"

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon {
namespace {

constexpr int64_t kPriorityMax = 100;

}  // namespace

GroupPlace PlaceInGroup(const RunRow& row) {
  const bool background = (row.flags & run_flag::kBackground) != 0;
  return {.rank = kPriorityMax - row.priority + (background ? kPriorityMax + 1 : 0),
          .key = row.key};
}

bool IsCool(Duration per, WallTime given, WallTime now) {
  if (failpoint::Broken("group.cooling")) return true;
  return given <= now - per || given > now + kGroupClockAhead || per <= Duration{};
}

WallTime CoolAt(Duration per, WallTime given, WallTime now) {
  return IsCool(per, given, now) ? now : given + per;
}

WallTime DueInGroup(WallTime cool, WallTime now) { return std::max(now, cool - kGroupLead); }

GroupVerdict DecideStartInGroup(const GroupFacts& facts) {
  if (!facts.named) return GroupVerdict::kStart;
  if (facts.has_slot) {
    if (facts.too_many || facts.warm > kGroupLead) return GroupVerdict::kQueue;
    return facts.warm > Duration{} ? GroupVerdict::kTooEarly : GroupVerdict::kStart;
  }
  const bool behind = facts.queued_before && !failpoint::Broken("group.queued_before");
  return facts.free && !behind ? GroupVerdict::kStart : GroupVerdict::kQueue;
}

int64_t FreeInGroup(int64_t limit, int64_t used) { return std::max<int64_t>(0, limit - used); }

int64_t CoolingBeforeStart(const SlotUseOfGroup& use) {
  return std::max<int64_t>(0, use.taken + use.cooling - use.limit);
}

std::vector<RunKey> DecideGroupAdmission(const std::vector<GroupWait>& queue,
                                         const std::vector<SegmentId>& own, int64_t free) {
  std::vector<RunKey> admitted;
  const auto count = std::min(queue.size(), static_cast<size_t>(std::max<int64_t>(0, free)));
  for (size_t i = 0; i < count; ++i) {
    if (std::find(own.begin(), own.end(), queue[i].segment) == own.end()) continue;
    admitted.push_back(queue[i].place.key);
  }
  return admitted;
}

}  // namespace carillon
