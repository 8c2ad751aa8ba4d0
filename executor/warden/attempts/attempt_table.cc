#include "executor/warden/attempts/attempt_table.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace carillon::executor {

AttemptEntry* AttemptTable::Find(const AttemptName& name) {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

AttemptEntry* AttemptTable::FindHeld(const HeldAttempt& held) {
  AttemptEntry* entry = Find(NameOf(held));
  return entry != nullptr && entry->held.token == held.token ? entry : nullptr;
}

AttemptEntry& AttemptTable::Insert(const HeldAttempt& held, AttemptStage stage) {
  const auto [at, inserted] = entries_.try_emplace(NameOf(held));
  CARILLON_CHECK(inserted, "an attempt is known once");
  at->second.stage = stage;
  at->second.held = held;
  return at->second;
}

void AttemptTable::AddEnded(const RecordedEnd& end) {
  AttemptEntry& entry = entries_[NameOf(end.attempt)];
  entry.stage = AttemptStage::kEnded;
  entry.held = end.attempt;
  entry.end_record = end.record;
}

bool AttemptTable::AddLeftOver(const OpenStart& start) {
  if (Find(NameOf(start.attempt)) != nullptr) return false;
  AttemptEntry& entry = Insert(start.attempt, AttemptStage::kLeftOver);
  entry.start_record = start.record;
  entry.started = start.started;
  return true;
}

void AttemptTable::Forget(const HeldAttempt& held) {
  entries_.erase(NameOf(held));
  forgotten_.Add(held);
}

std::vector<AttemptName> AttemptTable::Names() const {
  std::vector<std::pair<SegmentLog::RecordId, AttemptName>> by_record;
  by_record.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) by_record.emplace_back(entry.end_record, name);
  std::sort(by_record.begin(), by_record.end(), std::greater<>());
  std::vector<AttemptName> names;
  names.reserve(by_record.size());
  for (const auto& [record, name] : by_record) names.push_back(name);
  return names;
}

}  // namespace carillon::executor
