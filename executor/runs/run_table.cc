#include "executor/runs/run_table.h"

namespace carillon::executor {
namespace {

bool KeepsSlot(const RunEntry& entry) {
  switch (entry.stage) {
    case RunStage::kClaiming:
    case RunStage::kStarting:
    case RunStage::kRunning: return true;
    case RunStage::kReporting: return entry.lane() == Lane::kLight;
    case RunStage::kQueued:
    case RunStage::kGone: break;
  }
  return false;
}

}  // namespace

RunEntry* RunTable::Find(const AttemptId& id) {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

RunEntry* RunTable::FindHeld(const HeldAttempt& held) {
  RunEntry* entry = Find(IdOf(held));
  return entry != nullptr && entry->held.token == held.token ? entry : nullptr;
}

RunEntry& RunTable::Insert(RunEntry entry) {
  const AttemptId id = entry.id;
  const RunStage stage = entry.stage;
  auto [at, inserted] = entries_.emplace(id, std::move(entry));
  CARILLON_CHECK(inserted, "an attempt is known once");
  ++counts_[static_cast<size_t>(stage)];
  at->second.holds_slot = false;
  SetSlot(at->second, KeepsSlot(at->second));
  return at->second;
}

void RunTable::Move(RunEntry& entry, RunStage stage) {
  --counts_[static_cast<size_t>(entry.stage)];
  if (entry.stage == RunStage::kReporting) reporting_bytes_ -= entry.output_bytes;
  entry.stage = stage;
  SetSlot(entry, KeepsSlot(entry));
  if (stage == RunStage::kGone) {
    entries_.erase(AttemptId(entry.id));
    return;
  }
  ++counts_[static_cast<size_t>(stage)];
}

void RunTable::SetSlot(RunEntry& entry, bool holds) {
  if (entry.holds_slot == holds) return;
  entry.holds_slot = holds;
  used_[static_cast<size_t>(entry.lane())] += holds ? 1 : -1;
  if (entry.lane() != Lane::kHandler) return;
  int& used = used_by_handler_[entry.handler];
  used += holds ? 1 : -1;
  if (used == 0) used_by_handler_.erase(entry.handler);
}

void RunTable::AddOutput(RunEntry& entry, size_t bytes) {
  entry.output_bytes += bytes;
  reporting_bytes_ += bytes;
}

void RunTable::ForEach(const std::function<void(RunEntry&)>& visit) {
  for (auto& [id, entry] : entries_) visit(entry);
}

std::vector<AttemptId> RunTable::InStage(RunStage stage) const {
  std::vector<AttemptId> ids;
  if (count(stage) == 0) return ids;
  for (const auto& [id, entry] : entries_) {
    if (entry.stage == stage) ids.push_back(id);
  }
  return ids;
}

}  // namespace carillon::executor
