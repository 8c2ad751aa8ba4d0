#include "tests/twins/memory_completion_store.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"
#include "common/domain/template/trigger_outputs.h"
#include "common/domain/workflow/node_rules.h"
#include "common/ports/store/firing_store.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_parts.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

bool Contains(const std::vector<SegmentId>& segments, SegmentId segment) {
  return std::find(segments.begin(), segments.end(), segment) != segments.end();
}

bool Covers(const Fence& fence, SegmentId segment) {
  return std::any_of(fence.begin(), fence.end(),
                     [segment](const FencedSegment& held) { return held.segment == segment; });
}

DelayWait WaitOf(const ScheduleEntry& schedule) {
  return {.every = schedule.spec.every, .awaited = schedule.awaited};
}

// Returns false if the run lacks an output for which its schedule asks, and was skipped.
bool WriteDependent(MemoryTables& tables, const JobEntry& job, const DependentRun& run,
                    WallTime now) REQUIRES(tables.mu) {
  RunEntry entry{.row = run.row, .planned = now, .trigger = run.trigger};
  const ScheduleSpec& spec = tables.FindSchedule(run.row.key.schedule_id)->spec;
  if (!AsksForOutputs(spec)) {
    tables.PutRun(std::move(entry));
    return true;
  }
  const RunEntry* before = tables.FindRun(run.trigger.run);
  const auto given = RenderTriggerOutputs(job.definition, spec, run.trigger,
                                          before == nullptr ? Outputs() : before->result.outputs,
                                          run.row.key.fire);
  if (given.ok()) {
    entry.parameters_json = GivenToText(*given);
    tables.PutRun(std::move(entry));
  } else {
    tables.PutRun(entry);  // its end is told, as that of each run
    WriteSkip(tables, std::move(entry), reason::kBadParameters, now,
              given.error().pointer + ": " + given.error().message);
  }
  return given.ok();
}

}  // namespace

Result<std::vector<RunCompletion>> MemoryCompletionStore::ScanCompletions(
    const std::vector<SegmentId>& segments, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<RunCompletion> found;
  for (const auto& [id, end] : tables_.completions) {
    if (found.size() == limit) break;
    if (end.target == CompletionTarget::kWorkflow) continue;
    if (!Contains(segments, end.segment) || IsPassed(end)) continue;
    found.push_back(end);
  }
  return found;
}

bool MemoryCompletionStore::IsPassed(const RunCompletion& end) {
  if (end.target != CompletionTarget::kParts || !failpoint::Broken("parts.late_ids")) return false;
  uint64_t& newest = newest_[end.segment];
  const bool passed = end.id <= newest;
  newest = std::max(newest, end.id);
  return passed;
}

CompletionEffect MemoryCompletionStore::Move(const ScheduleEntry& schedule, WallTime fire) {
  ScheduleEntry moved = schedule;
  moved.next_fire = fire;
  moved.awaited = WallTime{};
  const bool active = moved.active;
  tables_.PutSchedule(std::move(moved));
  return {.awaited = true, .next_fire = active ? fire : kNever};
}

// `gone`: for the ends of this batch that left a gap, the fires that their runs would have had.
CompletionEffect MemoryCompletionStore::StartDependents(const RunCompletion& end, WallTime now,
                                                        std::map<ScheduleId, StartedRuns>* gone) {
  CompletionEffect effect;
  for (const auto& [schedule_id, entry] : tables_.dependencies) {
    if (entry.upstream != end.job_no || !IsStartedBy(entry.dependent, end)) continue;
    const JobEntry* job = tables_.FindJob(entry.dependent.job_no);
    if (job == nullptr || job->deleted) continue;
    StartedRuns started = (*gone)[schedule_id];
    for (auto run = tables_.runs().lower_bound(RunKey{end.key.fire, ScheduleId{}, 0});
         run != tables_.runs().end() && run->first.fire < end.key.fire + Duration(kSameFireMax);
         ++run) {
      if (run->first.schedule_id != schedule_id || IsPart(run->first)) continue;
      const auto& trigger = run->second.trigger;
      started[run->first.fire] = trigger ? std::optional(trigger->run) : std::nullopt;
    }
    const DependentPlace place = PlaceAfter(end.key, started);
    if (place.exists) {
      ++effect.existing;
      continue;
    }
    const bool paused = !job->definition.enabled;
    if (!place.fire || paused) {
      ++effect.paused;
      const WallTime fire = place.fire.value_or(end.key.fire);
      if (place.fire) (*gone)[schedule_id][fire] = end.key;
      AddGap(tables_, schedule_id, job->job_no,
             {.from = fire,
              .to = fire,
              .count = 1,
              .reason = paused ? GapReason::kPaused : GapReason::kCatchUpLimit});
      continue;
    }
    const DependentRun run = RunAfter(end, *place.fire, entry.dependent, ToJobRow(*job),
                                      tables_.FindJob(end.job_no)->id, now);
    if (WriteDependent(tables_, *job, run, now)) effect.started.push_back(run.row);
  }
  return effect;
}

Result<std::vector<CompletionEffect>> MemoryCompletionStore::Apply(
    const std::vector<RunCompletion>& ends, const Fence& fence, WallTime now) {
  if (ends.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "completions: more than kBatchRowsMax items"};
  }
  MutexLock lock(tables_.mu);
  for (const RunCompletion& end : ends) {
    if (!Covers(fence, end.segment)) {
      return {ErrorCode::kInvalid, "completions: a run is outside the fence"};
    }
  }
  CARILLON_TRY(tables_.CheckFence(fence));
  std::vector<CompletionEffect> effects(ends.size());
  std::map<ScheduleId, StartedRuns> gone;
  for (size_t i = 0; i < ends.size(); ++i) {
    tables_.completions.erase(ends[i].id);
    if (ends[i].target == CompletionTarget::kDependents) {
      effects[i] = StartDependents(ends[i], now, &gone);
      continue;
    }
    const ScheduleEntry* schedule = tables_.FindSchedule(ends[i].key.schedule_id);
    const JobEntry* job = tables_.FindJob(ends[i].job_no);
    const bool exists = schedule != nullptr && job != nullptr &&
                        std::find(job->schedules.begin(), job->schedules.end(), schedule->id) !=
                            job->schedules.end() &&
                        !job->deleted;
    if (!exists || schedule->spec.kind != ScheduleKind::kDelay) continue;
    const auto fire = DecideNextFire(WaitOf(*schedule), ends[i], now);
    if (fire) effects[i] = Move(*schedule, *fire);
  }
  return effects;
}

Result<std::vector<FireEffect>> MemoryCompletionStore::EndFires(const std::vector<FireLook>& fires,
                                                                const Fence& fence, WallTime now) {
  if (fires.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "fires: more than kBatchRowsMax items"};
  }
  MutexLock lock(tables_.mu);
  for (const FireLook& fire : fires) {
    if (!Covers(fence, fire.segment)) {
      return {ErrorCode::kInvalid, "fires: a run is outside the fence"};
    }
  }
  CARILLON_TRY(tables_.CheckFence(fence));
  std::vector<FireEffect> effects;
  for (const FireLook& fire : fires) effects.push_back(EndFireOf(tables_, fire, now));
  return effects;
}

Result<std::vector<FireLook>> MemoryCompletionStore::ScanUnended(
    const std::vector<SegmentId>& segments, WallTime due, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<FireLook> unended;
  for (const SegmentId segment : segments) {
    for (FireLook& one : UnendedOf(tables_, segment, due)) {
      if (unended.size() < limit) unended.push_back(std::move(one));
    }
  }
  return unended;
}

bool MemoryCompletionStore::IsStuck(const ScheduleEntry& schedule) const {
  if (schedule.awaited == WallTime{}) return false;
  const RunEntry* run = tables_.FindRun({schedule.awaited, schedule.id, 0});
  if (run != nullptr && !IsFinal(run->row.state)) return false;
  return std::none_of(tables_.completions.begin(), tables_.completions.end(),
                      [&](const auto& entry) {
                        const RunKey& key = entry.second.key;
                        return entry.second.target == CompletionTarget::kSchedule &&
                               key.schedule_id == schedule.id && key.fire == schedule.awaited;
                      });
}

Result<std::vector<StuckSchedule>> MemoryCompletionStore::ScanStuck(
    const std::vector<SegmentId>& segments, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<StuckSchedule> stuck;
  for (const auto& [id, schedule] : tables_.schedules()) {
    if (stuck.size() == limit) break;
    if (!Contains(segments, schedule.segment) || !IsStuck(schedule)) continue;
    stuck.push_back({.schedule_id = id,
                     .job_no = schedule.job_no,
                     .segment = schedule.segment,
                     .awaited = schedule.awaited});
  }
  return stuck;
}

Result<bool> MemoryCompletionStore::Revive(const StuckSchedule& stuck, const Fence& fence,
                                           WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  const ScheduleEntry* schedule = tables_.FindSchedule(stuck.schedule_id);
  if (schedule == nullptr || schedule->awaited != stuck.awaited) return false;
  Move(*schedule, FireAfterLoss(WaitOf(*schedule), now));
  return true;
}

}  // namespace carillon::memory
