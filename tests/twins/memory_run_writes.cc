#include "tests/twins/memory_run_writes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/failpoint.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/job/job_types.h"
#include "common/domain/nodes/for_run.h"
#include "common/domain/nodes/node_groups.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/parts/fire_parameters.h"
#include "common/domain/queue/slot_start.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/run/skip.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_parts.h"

namespace carillon::memory {
namespace {

// Changes the columns of the row and its earlier attempts. Whether the run counts for
// overlap_policy skip follows from its state.
void ApplyChange(RunEntry& entry, const RunChange& change, const AttemptResult& result) {
  RunRow& row = entry.row;
  if (change.record_attempt) {
    RecordAttempt(entry, {.attempt = row.attempt,
                          .state = result.state,
                          .executor = row.executor,
                          .claimed = row.claimed,
                          .result = result});
  }
  if (change.store_result) {
    // The text with the user and the reason of the cancel was written earlier and is kept.
    const std::string why = change.state == RunState::kCancelled ? entry.result.error : "";
    entry.result = result;
    if (!why.empty()) entry.result.error = why;
    // A late success makes its attempt the current one again, so it leaves the earlier attempts.
    std::erase_if(entry.attempts,
                  [&](const RunAttempt& earlier) { return earlier.attempt >= change.attempt; });
  } else if (change.state == RunState::kHeld) {
    entry.result.state = result.state;  // it ends as LOST, if it does not end otherwise
  } else if (change.state == RunState::kPending) {
    entry.result = {};
  }
  entry.result.reason = change.reason;
  row.state = change.state;
  row.attempt = change.attempt;
  // The time at which a lost attempt is taken for dead is of that attempt.
  if (!IsFinal(change.state)) row.flags &= ~run_flag::kPresume;
  if (change.state == RunState::kHeld && change.due != kNever) {
    row.due = change.due;
    row.flags |= run_flag::kPresume;
  }
  if (change.state == RunState::kPending) {
    row.due = change.due;
    row.def_version = change.def_version;
    row.priority = change.priority;
    if (change.given_back) CountReturn(row);
    if (change.clear_token) row.claim_token = {};
    if (!failpoint::Broken("group.free_on_retry")) row.group = {};
  }
  if (IsFinal(change.state) || change.state == RunState::kPending) row.cancel_requested.reset();
}

// The dead letter, and the notice.
void AddFailure(MemoryTables& tables, const RunEntry& entry, int attempts, WallTime now)
    REQUIRES(tables.mu) {
  if (!TellsFailure(entry.row.kind)) return;
  if (LeavesDeadLetter(entry.row)) {
    const uint64_t id = ++tables.last_dead_letter_id;
    tables.dead_letters[id] = {.id = id,
                               .key = entry.row.key,
                               .job_id = tables.FindJob(entry.row.job_no)->id,
                               .state = entry.row.state,
                               .attempts = attempts,
                               .reason = entry.result.reason,
                               .created = now};
  }
  AddNotice(tables, {.kind = NoticeKind::kFailed,
                     .segment = entry.row.segment,
                     .job_no = entry.row.job_no,
                     .key = entry.row.key,
                     .attempt = entry.row.attempt,
                     .state = entry.row.state,
                     .reason = entry.result.reason,
                     .created = now});
}

}  // namespace

JobRow ToJobRow(const JobEntry& job) {
  return {.job_no = job.job_no,
          .version = job.version,
          .paused = !job.definition.enabled,
          .deleted = job.deleted,
          .priority = job.definition.priority,
          .overlap = OverlapRulesOf(job.definition),
          .retry = RetryRulesOf(job.definition),
          .cooperative = IsCooperative(job.definition.type),
          .segment = job.segment,
          .has_dependents = job.has_dependents,
          .waits = WaitsForOthers(job.definition)};
}

namespace {

// Approvals and waits, and nodes that were never released, have the type of a task that does
// nothing.
JobType TypeOfTask(const RunRow& row) {
  return ParseName<JobType>(RulesOf(row).type).value_or(JobType::kNoop);
}

}  // namespace

RunDetail ToDetail(MemoryTables& tables, const RunEntry& entry, bool with_attempts) {
  const JobEntry& job = tables.OwnerOf(entry.row.job_no);
  const auto version = job.versions.find(entry.row.def_version);
  const JobDefinition& definition =
      version == job.versions.end() ? job.definition : version->second;
  RunDetail detail{.row = entry.row,
                   .job_id = job.id,
                   .job_name = definition.name,
                   .planned = entry.planned,
                   .result = entry.result,
                   .parameters_json = entry.parameters_json,
                   .trace_id = entry.trace_id,
                   .attempts = {},
                   .trigger = entry.trigger,
                   .node = entry.node,
                   .until = UntilOf(entry),
                   .job_type = job.definition.type};
  if (IsTaskJob(entry.row.job_no)) detail.job_type = TypeOfTask(entry.row);
  const bool has_result = IsFinal(entry.row.state) && entry.row.state != RunState::kSkipped;
  const bool lost = entry.result.state == RunState::kLost;
  detail.result.state = !has_result ? RunState::kCompleted
                        : lost      ? RunState::kLost
                                    : entry.row.state;
  if (!with_attempts) return detail;
  detail.attempts = entry.attempts;
  const auto saved = tables.saved.find(entry.row.key);
  if (saved != tables.saved.end()) detail.saved = saved->second.state;
  return detail;
}

void AddNotice(MemoryTables& tables, Notice notice) {
  if (!tables.notice_keys.insert(NoticeKeyOf(notice)).second) return;
  notice.id = ++tables.last_notice_id;
  const uint64_t id = notice.id;
  tables.notices[id] = {.notice = std::move(notice)};
}

void AddGap(MemoryTables& tables, ScheduleId schedule_id, JobNo job_no, const GapRange& range) {
  tables.gaps[++tables.last_gap_id] = {schedule_id, job_no, range};
}

namespace {

void ChargeSlot(MemoryTables& tables, const RunRow& row, const AttemptResult& result, WallTime now)
    REQUIRES(tables.mu) {
  GroupEntry* const group = tables.FindGroup(row.group);
  if (group == nullptr || !group->holders.contains(row.key)) return;
  WallTime& given = group->given.at(group->holders.at(row.key));
  given = std::max(given, StartInSlot(row.state, result, now));
}

}  // namespace

Status WriteChange(MemoryTables& tables, RunEntry entry, const RunChange& change,
                   const AttemptResult& result, WallTime now, Reopener by) {
  CARILLON_TRY(CheckReopening(entry.row, change.state, by));
  if (change.state != RunState::kHeld) ChargeSlot(tables, entry.row, result, now);
  const int attempts = entry.row.attempt;
  // The run was final and is now reopened or ends differently, so the dead letter of its old
  // end is wrong.
  if (IsFinal(entry.row.state)) {
    std::erase_if(tables.dead_letters,
                  [&](const auto& letter) { return letter.second.key == entry.row.key; });
  }
  ApplyChange(entry, change, result);
  if (change.dead_letter) AddFailure(tables, entry, attempts, now);
  tables.PutRun(std::move(entry));
  return {};
}

void WriteSkip(MemoryTables& tables, RunEntry entry, std::string_view why, WallTime now,
               const std::string& error) {
  entry.row.state = RunState::kSkipped;
  entry.result.reason = std::string(why);
  entry.result.ended = now;
  if (!error.empty()) entry.result.error = error;
  if (SkipIsFailure(entry.row)) AddFailure(tables, entry, entry.row.attempt - 1, now);
  tables.PutRun(std::move(entry));
}

void RecordAttempt(RunEntry& entry, RunAttempt attempt) {
  attempt.result.outputs.clear();  // only those of the run's last attempt are kept
  const auto place = std::lower_bound(
      entry.attempts.begin(), entry.attempts.end(), attempt.attempt,
      [](const RunAttempt& earlier, int number) { return earlier.attempt < number; });
  if (place == entry.attempts.end() || place->attempt != attempt.attempt) {
    entry.attempts.insert(place, std::move(attempt));
    return;
  }
  if (place->state != RunState::kLost || place->executor != attempt.executor) return;
  attempt.claimed = place->claimed;
  *place = std::move(attempt);
}

RunAttempt LastAttempt(const RunEntry& entry) {
  RunAttempt last{.attempt = entry.row.attempt,
                  .executor = entry.row.executor,
                  .claimed = entry.row.claimed,
                  .result = entry.result};
  // A lost attempt stays LOST, because its real end may still be reported.
  if (last.result.state != RunState::kLost) last.result.state = entry.row.state;
  last.state = last.result.state;
  return last;
}

namespace {

// Of this run alone.
CancelEffect CancelAlone(MemoryTables& tables, const RunEntry& entry, const WriteContext& context,
                         const std::string& given = {}) REQUIRES(tables.mu) {
  const CancelEffect effect = DecideCancel(entry.row, context.cancel_mode, context.overlap());
  if (effect == CancelEffect::kNothing || effect == CancelEffect::kAskedHarder) return effect;
  RunEntry changed = entry;
  std::string sentence = given;
  if (sentence.empty()) {
    sentence = CancelSentence({.effect = effect,
                               .mode = context.cancel_mode,
                               .actor = context.actor,
                               .reason = context.reason});
  }
  if (!sentence.empty()) changed.result.error = sentence;
  if (effect == CancelEffect::kRequested) {
    if (!entry.row.cancel_requested) changed.given_up = 0;
    changed.row.cancel_requested = context.cancel_mode;
    tables.PutRun(std::move(changed));
    return effect;
  }
  changed.row.state = RunState::kCancelled;
  changed.row.cancel_requested.reset();
  changed.result.reason = std::string(CancelReason(entry.row));
  changed.result.ended = context.now;
  // A lost attempt that may still run stays LOST, because its real end may still be reported.
  if (!entry.row.may_still_run) changed.result.state = RunState::kCancelled;
  PutEnded(tables, std::move(changed));
  return effect;
}

}  // namespace

Status GiveUpOne(MemoryTables& tables, const RunEntry& entry, const WriteContext& context) {
  const JobRow job = ForRun(ToJobRow(*tables.FindJob(entry.row.job_no)), entry.row);
  CARILLON_TRY(CheckGiveUp(entry.row, job.cooperative, context.overlap()));
  std::set<RunKey> attempts{entry.row.key};
  if (!IsPart(entry.row.key)) {
    for (const RunKey& key : PartsOf(tables, entry.row.key)) attempts.insert(key);
  }
  const std::string sentence = GiveUpSentence(context.actor, context.reason);
  for (const RunKey& key : attempts) {
    RunEntry changed = *tables.FindRun(key);
    if (!MayGiveUp(changed.row, job.cooperative)) continue;
    changed.given_up = changed.row.attempt;
    if (!sentence.empty()) changed.result.error = sentence;
    tables.PutRun(std::move(changed));
  }
  return {};
}

bool CancelOne(MemoryTables& tables, const RunEntry& entry, const WriteContext& context) {
  const RunKey own = entry.row.key;
  const CancelEffect effect = CancelAlone(tables, entry, context);
  const bool follow =
      !IsPart(own) && (effect == CancelEffect::kRequested || effect == CancelEffect::kAskedHarder);
  if (follow && !failpoint::Broken("parts.cancel_own_only")) CancelParts(tables, own, context);
  return effect != CancelEffect::kNothing;
}

void CancelParts(MemoryTables& tables, const RunKey& own, const WriteContext& context,
                 const std::string& sentence) {
  for (const RunKey& key : PartsOf(tables, own)) {
    CancelAlone(tables, RunEntry(*tables.FindRun(key)), context, sentence);
  }
}

void PutEnded(MemoryTables& tables, RunEntry entry) {
  ++tables.ended[entry.row.state];
  tables.PutRun(std::move(entry));
}

void ReportEnds(MemoryTables& tables, const WriteContext& context) {
  if (context.ended != nullptr) *context.ended = tables.ended;
  tables.ended.clear();
}

Status CheckGroup(const MemoryTables& tables, const JobDefinition& definition) {
  for (const auto& [group, pointer] : GroupsOf(definition)) {
    if (tables.groups.contains(group)) continue;
    return Error{ErrorCode::kInvalid, "there is no concurrency group " + group, pointer};
  }
  return {};
}

namespace {

// The runs that may make another attempt.
std::set<RunKey> KeysOfAttempts(const MemoryTables& tables, const JobEntry& job)
    REQUIRES(tables.mu) {
  std::set<RunKey> keys = job.open;
  for (const auto& [number, letter] : tables.dead_letters) keys.insert(letter.key);
  return keys;
}

struct SpecsOfEdit {
  ZoneChange::Specs had = {};
  ZoneChange::Specs has = {};
};

SpecsOfEdit SpecsOf(const MemoryTables& tables, const JobEntry& job, const JobDefinition& old,
                    const std::vector<ScheduleId>& next) REQUIRES(tables.mu) {
  SpecsOfEdit specs;
  for (size_t i = 0; i < job.schedules.size() && i < old.schedules.size(); ++i) {
    const bool readable = tables.FindSchedule(job.schedules[i])->readable;
    specs.had[job.schedules[i]] = readable ? &old.schedules[i] : nullptr;
  }
  for (size_t i = 0; i < next.size(); ++i) specs.has[next[i]] = &job.definition.schedules[i];
  return specs;
}

}  // namespace

void KeepFireParameters(MemoryTables& tables, const JobEntry& job, const JobDefinition& old,
                        const std::vector<ScheduleId>& next) {
  if (job.unreadable.contains(job.version - 1)) return;  // nobody knows the old ones
  const SpecsOfEdit specs = SpecsOf(tables, job, old, next);
  const FireParameters fires(old, specs.had, job.definition, specs.has);
  for (const RunKey& key : KeysOfAttempts(tables, job)) {
    const RunEntry* run = tables.FindRun(key);
    if (run == nullptr || run->row.job_no != job.job_no) continue;
    const bool has_begun = IsInParts(run->row) && run->row.state != RunState::kPending;
    const auto begun = fires.ToKeep(key.schedule_id, run->trigger);
    if (!begun || !(IsPart(key) || has_begun)) continue;
    RunEntry entry = *run;
    const auto text = WithScheduleParameters(entry.parameters_json, *begun);
    if (!text.ok()) continue;
    if (!IsPart(key)) entry.parameters_json = *text;
    entry.row.flags |= run_flag::kHasRequest;
    tables.PutRun(std::move(entry));
  }
}

void KeepZones(MemoryTables& tables, const JobEntry& job, const JobDefinition& old,
               const std::vector<ScheduleId>& next) {
  const SpecsOfEdit specs = SpecsOf(tables, job, old, next);
  const ZoneChange zones(old, specs.had, job.definition, specs.has);
  for (const RunKey& key : KeysOfAttempts(tables, job)) {
    const auto zone = zones.ToKeep(key.schedule_id);
    if (!zone || tables.FindRun(key) == nullptr) continue;
    RunEntry entry = *tables.FindRun(key);
    const auto text = WithZone(entry.parameters_json, *zone);
    if (entry.row.job_no != job.job_no || !text.ok()) continue;
    if (!IsPart(key)) entry.parameters_json = *text;  // a part reads that of its own run
    entry.row.flags |= run_flag::kHasRequest;
    tables.PutRun(std::move(entry));
  }
}

void KeepParameters(MemoryTables& tables, const JobEntry& job, ScheduleId id) {
  const Parameters& removed = FixedParametersOf(tables.FindSchedule(id)->spec);
  if (removed.empty()) return;
  for (const RunKey& key : KeysOfAttempts(tables, job)) {
    if (key.schedule_id != id || tables.FindRun(key) == nullptr) continue;
    RunEntry entry = *tables.FindRun(key);
    const auto merged = WithScheduleParameters(
        entry.parameters_json, entry.trigger ? FillTrigger(removed, *entry.trigger) : removed);
    if (!merged.ok()) continue;
    if (!IsPart(key)) entry.parameters_json = *merged;
    entry.row.flags |= run_flag::kHasRequest;
    tables.PutRun(std::move(entry));
  }
}

void AskFormerOwner(MemoryTables& tables, const JobEntry& job) {
  std::set<RunKey> open = job.open;
  const JobEntry* tasks = tables.FindJob(TaskJobOf(job.job_no));
  if (tasks != nullptr) open.insert(tasks->open.begin(), tasks->open.end());
  for (const RunKey& key : open) {
    RunEntry entry = *tables.FindRun(key);
    if (!HasRequest(entry.row.kind, entry.row.flags)) continue;
    entry.row.flags |= run_flag::kOnBehalf;
    tables.PutRun(std::move(entry));
  }
}

void LeaveGroup(MemoryTables& tables, const JobEntry& job, LeavingRuns which, WallTime now) {
  for (const RunKey& key : std::set<RunKey>(job.open)) {
    RunEntry entry = *tables.FindRun(key);
    if (entry.row.state != RunState::kPending) continue;
    const bool has_own = RulesOf(entry.row).concurrency_group.has_value();
    if (has_own && which == LeavingRuns::kOfJobsGroup) continue;
    if (tables.WaitsForGroup(key) != nullptr) entry.row.due = now;
    entry.row.group = {};
    tables.PutRun(std::move(entry));
  }
}

}  // namespace carillon::memory
