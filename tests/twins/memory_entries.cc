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

std::vector<size_t> GroupEntry::Cooling(WallTime now, Duration ahead) const {
  std::set<size_t> taken;
  for (const auto& [key, slot] : holders) taken.insert(slot);
  std::vector<size_t> cooling;
  for (size_t slot = 0; slot < given.size(); ++slot) {
    if (taken.contains(slot)) continue;
    if (CoolAt(per, given[slot], now) > now + ahead) cooling.push_back(slot);
  }
  return cooling;
}

int64_t GroupEntry::Used(WallTime now, Duration ahead) const {
  return static_cast<int64_t>(holders.size() + Cooling(now, ahead).size());
}

Duration GroupEntry::Ahead(WallTime now) const {
  const auto above = [this](size_t slot) { return slot >= static_cast<size_t>(limit); };
  const bool lowered =
      std::ranges::any_of(holders, [&](const auto& holder) { return above(holder.second); }) ||
      std::ranges::any_of(Cooling(now, Duration{}), above);
  return lowered || per == Duration{} ? Duration{} : kGroupAhead;
}

Duration GroupEntry::Warm(const RunKey& holder, WallTime now) const {
  const auto found = holders.find(holder);
  return found == holders.end() ? Duration{} : CoolAt(per, given[found->second], now) - now;
}

std::optional<WallTime> GroupEntry::NextStart(WallTime now) const {
  std::vector<WallTime> cool;
  for (const size_t slot : Cooling(now, Duration{})) cool.push_back(given[slot] + per);
  std::ranges::sort(cool);
  const auto skipped =
      static_cast<size_t>(CoolingBeforeStart({.limit = limit,
                                              .taken = static_cast<int64_t>(holders.size()),
                                              .cooling = static_cast<int64_t>(cool.size())}));
  if (skipped >= cool.size()) return std::nullopt;
  return cool[skipped];
}

// As the database: while slots above a lowered limit are used, as many of the highest free ones are
// kept back. Of the others the lowest is given, or in a group with a time the one given first.
WallTime GroupEntry::Reserve(const RunKey& key, WallTime now, Duration ahead) {
  const auto held = holders.find(key);
  if (held != holders.end()) return CoolAt(per, given[held->second], now);
  std::set<size_t> used;
  for (const auto& [holder, slot] : holders) used.insert(slot);
  for (const size_t slot : Cooling(now, ahead)) used.insert(slot);
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
    return std::pair(per > Duration{} ? given[slot] : WallTime{}, slot);
  };
  const size_t chosen = *std::min_element(free.begin(), free.end(),
                                          [&](size_t a, size_t b) { return order(a) < order(b); });
  holders[key] = chosen;
  return CoolAt(per, given[chosen], now);
}

void GroupEntry::Give(const RunKey& key, WallTime now) {
  Reserve(key, now, Duration{});
  given[holders.at(key)] = now;
}

}  // namespace carillon::memory
