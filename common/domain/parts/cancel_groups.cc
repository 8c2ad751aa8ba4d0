#include "common/domain/parts/cancel_groups.h"

#include <algorithm>
#include <map>

#include "common/domain/parts/run_part.h"

namespace carillon {

std::vector<std::vector<RunKey>> GroupsToCancel(const std::vector<RunKey>& open,
                                                const std::set<RunKey>& waiting) {
  std::map<RunKey, size_t> rows;  // by own run
  for (const RunKey& key : open) ++rows[OwnRunOf(key)];
  std::vector<std::vector<RunKey>> groups;
  size_t sum = 0;
  const auto add = [&](bool waits) {
    for (auto own = rows.rbegin(); own != rows.rend(); ++own) {
      if (waiting.contains(own->first) != waits) continue;
      if (groups.empty() || sum + own->second > kCancelledRowsPerTransaction) {
        groups.emplace_back();
        sum = 0;
      }
      groups.back().push_back(own->first);
      sum += own->second;
    }
  };
  add(true);
  add(false);
  for (std::vector<RunKey>& group : groups) std::ranges::sort(group);
  return groups;
}

}  // namespace carillon
