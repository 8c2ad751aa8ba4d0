#include "tests/twins/memory_entries.h"

#include <algorithm>
#include <cctype>

namespace carillon::memory {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool NameContains(const JobEntry& job, std::string_view text) {
  const std::string wanted = Lower(text);
  return Lower(job.definition.name).find(wanted) != std::string::npos ||
         Lower(job.id.value()).find(wanted) != std::string::npos;
}

std::vector<size_t> GroupEntry::Cooling(WallTime now) const {
  std::set<size_t> taken;
  for (const auto& [key, slot] : holders) taken.insert(slot);
  std::vector<size_t> cooling;
  for (size_t slot = 0; slot < given.size(); ++slot) {
    if (!taken.contains(slot) && !IsCool(per, given[slot], now)) cooling.push_back(slot);
  }
  return cooling;
}

int64_t GroupEntry::Used(WallTime now) const {
  return static_cast<int64_t>(holders.size() + Cooling(now).size());
}

bool GroupEntry::IsWarm(const RunKey& holder, WallTime now) const {
  const auto found = holders.find(holder);
  return found != holders.end() && !IsCool(per, given[found->second], now);
}

std::optional<WallTime> GroupEntry::NextCool(const std::vector<size_t>& slots, WallTime now) const {
  std::optional<WallTime> next;
  for (const size_t slot : slots) {
    if (IsCool(per, given[slot], now)) continue;
    next = std::min(next.value_or(given[slot] + per), given[slot] + per);
  }
  return next;
}

// As the database: while slots above a lowered limit are used, as many of the highest free ones are
// kept back. Of the others the lowest is given, or in a group with a time the one given first.
void GroupEntry::Reserve(const RunKey& key, WallTime now) {
  if (holders.contains(key)) return;
  std::set<size_t> used;
  for (const auto& [holder, slot] : holders) used.insert(slot);
  for (const size_t slot : Cooling(now)) used.insert(slot);
  const auto end = static_cast<size_t>(limit);
  const auto above = static_cast<size_t>(std::distance(used.lower_bound(end), used.end()));
  std::vector<size_t> free;
  for (size_t slot = 0; slot < std::min(end, given.size()); ++slot) {
    if (!used.contains(slot)) free.push_back(slot);
  }
  free.resize(free.size() - std::min(above, free.size()));
  if (free.empty()) {  // in a test that breaks a rule
    free.push_back(given.size());
    given.push_back(FromUnixMicros(0));
  }
  const auto order = [&](size_t slot) {
    const bool ahead = given[slot] > now;
    return std::tuple(per > Duration{} && ahead, per > Duration{} ? given[slot] : WallTime{}, slot);
  };
  holders[key] = *std::min_element(free.begin(), free.end(),
                                   [&](size_t a, size_t b) { return order(a) < order(b); });
}

void GroupEntry::Give(const RunKey& key, WallTime now) {
  Reserve(key, now);
  given[holders.at(key)] = now;
}

}  // namespace carillon::memory
