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

bool MayStartInGroup(const GroupFacts& facts) {
  if (!facts.named) return true;
  if (facts.has_slot) return !facts.too_many && !facts.warm;
  const bool behind = facts.queued_before && !failpoint::Broken("group.queued_before");
  return facts.free && !behind;
}

int64_t FreeInGroup(int64_t limit, int64_t used) { return std::max<int64_t>(0, limit - used); }

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
