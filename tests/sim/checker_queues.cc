// The part of the checker that follows the queues of jobs and groups, and the slots that runs take
// from them.
#include <algorithm>

#include <fmt/format.h>

#include "common/domain/run/returns.h"
#include "tests/sim/checker.h"

namespace carillon::sim {
namespace {

bool IsActive(const RunRow& row) {
  return row.state == RunState::kRunning || row.state == RunState::kHeld;
}

}  // namespace

void Checker::CheckOverlapPolicy(const RunRow& row) {
  const JobDefinition* definition = DefinitionOf(row);
  const bool limited = definition != nullptr && TakesSlots(definition->overlap_policy);
  if (!limited || IsPart(row.key)) return;
  std::set<RunKey> others;  // a fire of several parts counts once
  for (const auto& [key, other] : rows_) {
    if (other.job_no == row.job_no && IsActive(other)) others.insert(OwnRunOf(key));
  }
  others.erase(row.key);
  if (static_cast<int64_t>(others.size()) >= definition->max_running) {
    Fail("P8 overlap", fmt::format("{} beside {} others, max_running {}", Describe(row),
                                   others.size(), definition->max_running));
  }
}

// Runs leave the queue of their job in the order of their keys, and no run takes a slot while one
// that came before it waits there. A run that waits for its group has taken the slot of its job
// before, and keeps it when an edit makes the run due again: a run that was queued since does not
// hold it up. Parts are in no queue of their job, as parts_check.h says.
void Checker::FollowQueue(const RunRow& before, const RunRow& after) {
  if (IsPart(after.key)) return;
  std::set<RunKey>& queued = queued_[after.job_no];
  std::set<RunKey>& holders = holders_[after.job_no];
  const JobDefinition* definition = DefinitionOf(after);
  const bool takes_slots = definition != nullptr && TakesSlots(definition->overlap_policy);
  const bool waits = after.state == RunState::kPending && after.due == kQueued;
  const bool waited = queued.erase(after.key) > 0;
  if (waits && !WaitsForGroup(after.key)) {
    queued.insert(after.key);
    holders.erase(after.key);
  } else if (waits) {
    if (!takes_slots || !holders.insert(after.key).second) return;
    if (after.attempt == 1) CheckTakesSlot(after, "took a slot");
  } else if (after.state == RunState::kPending) {
    if (after.due == kNever && IsFirstTry(after)) holders.erase(after.key);  // paused
    if (!waited || !IsTime(after.due)) return;
    ++admissions_;
    admitted_at_[after.key] = after.due;
    CheckOrder(after, queued, "left the queue");
    if (takes_slots) holders.insert(after.key);
  } else {
    const bool held_slot = holders.erase(after.key) > 0;
    const bool claimed = before.state == RunState::kPending && after.state == RunState::kRunning;
    if (claimed && after.attempt == 1 && !held_slot) CheckTakesSlot(after, "was claimed");
  }
}

void Checker::CheckTakesSlot(const RunRow& row, std::string_view what) {
  CheckOrder(row, queued_[row.job_no], what);
  const JobDefinition* definition = DefinitionOf(row);
  // A run that holds the only slot goes before it as well.
  if (definition != nullptr && definition->max_running == 1) {
    CheckOrder(row, holders_[row.job_no], what);
  }
}

const std::string& Checker::GroupOf(const RunRow& row) const {
  static const std::string kNone;
  if (IsActive(row) && row.executor.empty()) return kNone;  // each of its parts takes a slot
  const JobDefinition* definition = DefinitionOf(row);
  return definition == nullptr ? kNone : definition->concurrency_group;
}

int64_t Checker::GroupHolders(const std::string& name) const {
  return std::count_if(rows_.begin(), rows_.end(), [&](const auto& entry) {
    const RunRow& row = entry.second;
    const bool admitted = row.state == RunState::kPending && row.group != GroupNo{};
    return (IsActive(row) || admitted) && GroupOf(row) == name;
  });
}

int64_t Checker::GroupHeld(const std::string& name) const {
  return std::count_if(rows_.begin(), rows_.end(), [&](const auto& entry) {
    return entry.second.state == RunState::kHeld && GroupOf(entry.second) == name;
  });
}

// A raised time holds at once, for the slots as they are then: starts that others followed in the
// same slots do not count any more. Those within the old time had slots of their own.
void Checker::GroupAcknowledged(const std::string& name, int64_t limit, Duration per) {
  limits_[name] = limit;
  GroupTime& time = group_times_[name];
  if (per > time.per && !time.starts.empty()) {
    WallTime newest{};
    for (const auto& [token, start] : time.starts) newest = std::max(newest, start);
    std::erase_if(time.starts, [&](const auto& one) { return one.second <= newest - time.per; });
  }
  time.per = per;
}

// The slot of an attempt that has ended cools from its start, if its host has told one. A host's
// clock may be ahead, and the member's be slightly behind: it counts at most until then.
void Checker::NoteStartInGroup(const RunRow& before, const RunRow& after) {
  constexpr Duration kBehind = 100ms;
  if (!IsActive(before) || IsActive(after)) return;
  const memory::RunEntry& entry = *ports_.tables.FindRun(after.key);
  WallTime told = IsFinal(after.state) ? entry.result.started : WallTime{};
  for (const RunAttempt& ended : entry.attempts) {
    if (ended.attempt == before.attempt) told = ended.result.started;
  }
  for (auto& [name, time] : group_times_) {
    const auto start = time.starts.find(before.claim_token);
    if (start == time.starts.end()) continue;
    start->second = std::max(start->second, std::min(told, ports_.now() - kBehind));
  }
}

// No window of the group's time has more starts than the limit, which an edit may have lowered.
void Checker::CheckGroupTime(const std::string& name, int64_t limit, const RunRow& row) {
  GroupTime& time = group_times_[name];
  time.starts[row.claim_token] = row.claimed;
  if (time.per == Duration{}) return;
  const auto within = std::ranges::count_if(
      time.starts, [&](const auto& one) { return one.second > row.claimed - time.per; });
  if (within > limit) {
    Fail("groups time", fmt::format("{} is one of {} starts in {} ms in group {}, limit {}",
                                    Describe(row), within, time.per / 1ms, name, limit));
  }
}

// A claim obeys the limit that was acknowledged last; a lowered limit ends nothing.
void Checker::CheckGroupLimit(const RunRow& row) {
  const std::string& name = GroupOf(row);
  const auto limit = limits_.find(name);
  if (limit == limits_.end()) return;
  CheckGroupTime(name, limit->second, row);
  const auto active = std::count_if(rows_.begin(), rows_.end(), [&](const auto& entry) {
    return IsActive(entry.second) && GroupOf(entry.second) == name;
  });
  if (active > limit->second) {
    Fail("groups limit", fmt::format("{} is one of {} in group {}, limit {}", Describe(row), active,
                                     name, limit->second));
  }
}

void Checker::LeaveGroupQueue(const RunKey& key) {
  const auto place = group_waits_.find(key);
  if (place == group_waits_.end()) return;
  group_queues_[place->second.first].erase(place->second.second);
  group_waits_.erase(place);
}

// A run gets a slot only if fewer runs go before it in the queue than slots are free.
void Checker::FollowGroup(const RunRow& before, const RunRow& after) {
  NoteStartInGroup(before, after);
  const bool waited = WaitsForGroup(after.key);
  LeaveGroupQueue(after.key);
  const bool waits = after.state == RunState::kPending && after.due == kQueued;
  const std::string awaited = waits ? ports_.group_awaited(after.key) : std::string();
  if (!awaited.empty()) {
    const GroupPlace place = PlaceInGroup(after);
    group_waits_[after.key] = {awaited, place};
    group_queues_[awaited].insert(place);
    return;
  }
  const bool back_off = before.state == RunState::kRunning && after.state == RunState::kPending;
  if (back_off && after.group != GroupNo{}) {
    Fail("groups slots", "keeps its slot between two attempts: " + Describe(after));
  }
  const std::string& name = GroupOf(after);
  const auto queue = group_queues_.find(name);
  const auto limit = limits_.find(name);
  if (queue == group_queues_.end() || limit == limits_.end()) return;
  const bool granted = waited && after.state == RunState::kPending && after.group != GroupNo{};
  const bool claimed = before.state == RunState::kPending && before.group == GroupNo{} &&
                       after.state == RunState::kRunning;
  const auto earlier =
      std::count_if(queue->second.begin(), queue->second.end(),
                    [&](const GroupPlace& place) { return place < PlaceInGroup(after); });
  if (granted && earlier + GroupHolders(name) > limit->second) {
    Fail("groups order", fmt::format("{} was admitted before {} others", Describe(after), earlier));
  }
  if (claimed && earlier > 0) {
    Fail("groups order", fmt::format("{} was claimed before {} others", Describe(after), earlier));
  }
  if (!granted) return;
  ++admissions_;
  admitted_at_[after.key] = after.due;
}

void Checker::CheckOrder(const RunRow& row, const std::set<RunKey>& others, std::string_view what) {
  const JobDefinition* definition = DefinitionOf(row);
  if (definition == nullptr || !TakesSlots(definition->overlap_policy)) return;
  if (others.empty() || !(*others.begin() < row.key)) return;
  Fail("P8 queue order",
       fmt::format("{} {} before run {}", Describe(row), what, EncodeRunId(*others.begin())));
}

bool Checker::Rests(const RunRow& row) const {
  if (IsFinal(row.state) || row.state == RunState::kHeld) return true;
  if (row.state != RunState::kPending || row.due != kQueued) return false;
  if (WaitsForGroup(row.key)) return false;
  const bool held = std::any_of(rows_.begin(), rows_.end(), [&](const auto& other) {
    return other.second.job_no == row.job_no && other.second.state == RunState::kHeld;
  });
  const bool others_move = std::any_of(rows_.begin(), rows_.end(), [&](const auto& other) {
    const RunRow& one = other.second;
    const bool queued =
        one.state == RunState::kPending && one.due == kQueued && !WaitsForGroup(one.key);
    return one.job_no == row.job_no && !queued && !IsFinal(one.state) &&
           one.state != RunState::kHeld;
  });
  return held && !others_move;
}

}  // namespace carillon::sim
