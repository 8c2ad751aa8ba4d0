#include "common/adapters/mysql/jobs/job_edit.h"

#include <algorithm>
#include <set>

#include "common/domain/job/pending_fires.h"
#include "common/domain/upstream/wait_end.h"

namespace carillon::mysql {
namespace {

// Returns the rules for clock changes by which the schedule was planned.
JobDefinition RulesOf(const EditedSchedule& schedule, const JobDefinition& definition) {
  JobDefinition rules;
  rules.dst_gap = schedule.row.due.readable ? schedule.row.due.dst_gap : definition.dst_gap;
  rules.dst_repeat =
      schedule.row.due.readable ? schedule.row.due.dst_repeat : definition.dst_repeat;
  return rules;
}

ZoneChange::Specs SpecsOf(const std::vector<EditedSchedule>& schedules) {
  ZoneChange::Specs specs;
  for (const EditedSchedule& schedule : schedules) {
    // A row that cannot be read has no zone.
    const DueSchedule& due = schedule.row.due;
    specs[due.schedule_id] = due.readable ? &due.spec : nullptr;
  }
  return specs;
}

}  // namespace

StoredJob JobEdit::ToStored() const {
  StoredJob stored{.job_no = rows_.job.job_no,
                   .job_id = rows_.job.job_id,
                   .segment = rows_.job.segment,
                   .version = rows_.job.version,
                   .definition = rows_.job.definition,
                   .schedules = {},
                   .pause_reason = rows_.job.pause_reason,
                   .created = rows_.job.created,
                   .updated = rows_.job.updated,
                   .paused_by_failures = rows_.job.paused_by_failures};
  for (const EditedSchedule& schedule : rows_.schedules) {
    stored.schedules.push_back({schedule.row.due.schedule_id, schedule.row.due.spec});
  }
  return stored;
}

void JobEdit::NextVersion() {
  ++rows_.job.version;
  rows_.job.updated = TimeOfNextVersion(rows_.job.updated, now_);
}

void JobEdit::Remove(EditedSchedule& schedule, const JobDefinition& definition, GapReason reason) {
  const ScheduleId id = schedule.row.due.schedule_id;
  const JobDefinition rules = RulesOf(schedule, definition);
  const GapRange missed =
      PassOver(rules, schedule.row.due.spec, reason, now_, &schedule.next, schedule.calendars);
  if (missed.count > 0) rows_.gaps.push_back({id, rows_.job.job_no, missed});
  rows_.removed.push_back(id);
}

Status JobEdit::Replace(const JobDefinition& definition, std::vector<ScheduleId> ids) {
  CARILLON_ASSIGN_OR_RETURN(const auto calendars, rows_.calendars->OfAll(definition.schedules));
  const JobDefinition old = rows_.job.definition;
  const bool waited = ToJobRow(rows_.job).waits;
  rows_.job.definition = definition;
  rows_.job.group = rows_.new_group;
  rows_.job.readable = true;
  NextVersion();
  std::vector<EditedSchedule> left = std::move(rows_.schedules);
  rows_.schedules.clear();
  std::vector<const ScheduleSpec*> before;
  for (const EditedSchedule& schedule : left) {
    const DueSchedule& due = schedule.row.due;
    const bool alike = due.readable && FiresAlike(RulesOf(schedule, old), definition, due.spec);
    before.push_back(alike ? &due.spec : nullptr);
  }
  const auto continued = ContinuedSchedules(before, definition.schedules);
  std::set<size_t> kept;
  for (size_t i = 0; i < continued.size(); ++i) {
    const ScheduleSpec& spec = definition.schedules[i];
    if (continued[i]) {
      kept.insert(*continued[i]);
      rows_.schedules.push_back(left[*continued[i]]);
      rows_.schedules.back().row.due.spec = spec;
      continue;
    }
    EditedSchedule fresh;
    fresh.next = FirstFireAfter(definition, spec, now_, calendars[i]);
    fresh.added = true;
    fresh.calendars = calendars[i];
    DueSchedule& due = fresh.row.due;
    due.schedule_id = ids.back();
    due.spec = spec;
    CARILLON_ASSIGN_OR_RETURN(due.calendars,
                              rows_.calendars->NumbersOf(spec.calendar, spec.blackout));
    due.calendar_version = rows_.calendars->VersionOf(due.calendars);
    ids.pop_back();
    rows_.schedules.push_back(std::move(fresh));
  }
  const ZoneChange::Specs had = SpecsOf(left);
  const ZoneChange::Specs has = SpecsOf(rows_.schedules);
  rows_.kept.zones = ZoneChange(old, had, definition, has);
  rows_.kept.fires = FireParameters(old, had, definition, has);
  const GapReason reason = old.enabled ? GapReason::kEdited : GapReason::kPaused;
  for (size_t i = 0; i < left.size(); ++i) {
    if (kept.contains(i)) continue;
    Remove(left[i], old, reason);
    const DueSchedule& gone = left[i].row.due;
    const Parameters& fixed = FixedParametersOf(gone.spec);
    if (!fixed.empty()) rows_.kept.parameters[gone.schedule_id] = fixed;
  }
  ChangePending(JobChange::kEdited, reason::kEdited);
  if (WaitsForOthers(definition) != waited) ChangeWaits();
  if (old.enabled && !definition.enabled) PauseRuns("");
  if (!old.enabled && definition.enabled) ResumeSchedules();
  return {};
}

void JobEdit::ChangeWaits() {
  for (EditedRun& pending : rows_.pending) {
    if (pending.erased || pending.ended) continue;
    RunRow& row = pending.run.row;
    row.due = DueAfterEdit(row, WaitsForOthers(rows_.job.definition), now_).value_or(row.due);
  }
}

void JobEdit::Pause(const std::string& reason) {
  NextVersion();
  PauseRuns(reason);
}

void JobEdit::PauseByFailures(const std::string& reason) {
  Pause(reason);
  rows_.job.paused_by_failures = true;
}

void JobEdit::ExplainPause(const std::string& reason) {
  NextVersion();
  rows_.job.pause_reason = reason;
  rows_.job.paused_by_failures = false;
}

void JobEdit::PauseRuns(const std::string& reason) {
  rows_.job.definition.enabled = false;
  rows_.job.pause_reason = reason;
  rows_.job.paused_by_failures = false;
  ChangePending(JobChange::kPaused, reason::kPaused);
}

void JobEdit::Resume() {
  NextVersion();
  ResumeSchedules();
}

void JobEdit::ResumeSchedules() {
  rows_.job.definition.enabled = true;
  rows_.job.pause_reason.clear();
  rows_.job.paused_by_failures = false;
  for (EditedSchedule& schedule : rows_.schedules) {
    DueSchedule& due = schedule.row.due;
    const JobDefinition& definition = rows_.job.definition;
    if (due.calendars.any() && !schedule.added) {
      const WallTime changed = rows_.calendars->ChangedSince(due.calendars, due.calendar_version);
      schedule.next =
          FireUnderNewCalendars(definition, due.spec, schedule.next, changed, schedule.calendars);
      due.calendar_version = rows_.calendars->VersionOf(due.calendars);
    }
    const GapRange missed = PassOver(definition, due.spec, GapReason::kPaused, now_, &schedule.next,
                                     schedule.calendars);
    if (missed.count > 0)
      rows_.gaps.push_back({schedule.row.due.schedule_id, rows_.job.job_no, missed});
  }
  for (EditedRun& pending : rows_.pending) pending.released = pending.run.row.due == kNever;
}

void JobEdit::Delete() {
  rows_.job.deleted = true;
  NextVersion();
  ChangePending(JobChange::kDeleted, reason::kDeleted);
  const GapReason reason = rows_.job.definition.enabled ? GapReason::kDeleted : GapReason::kPaused;
  for (EditedSchedule& schedule : rows_.schedules) Remove(schedule, rows_.job.definition, reason);
  rows_.schedules.clear();
}

// Moves the schedule back to the fire of a planned run, so that the run is planned again. Returns
// false if a later run of the schedule cannot be unplanned, for example because it was cancelled
// early. Otherwise the schedule would plan the key of that later run twice.
bool JobEdit::Unplan(const RunKey& key) {
  const auto later = rows_.past_recall.find(key.schedule_id);
  if (later != rows_.past_recall.end() && later->second >= key.fire) return false;
  for (EditedSchedule& schedule : rows_.schedules) {
    if (schedule.row.due.schedule_id != key.schedule_id) continue;
    schedule.next = std::min(schedule.next, key.fire);
    if (schedule.row.awaited == key.fire) schedule.row.awaited = WallTime{};
  }
  return true;
}

void JobEdit::ChangePending(JobChange change, std::string_view why) {
  for (EditedRun& pending : rows_.pending) {
    if (pending.erased || pending.ended) continue;
    const RunKey& key = pending.run.row.key;
    const bool kept = key.schedule_id == rows_.job.manual_schedule ||
                      std::any_of(rows_.schedules.begin(), rows_.schedules.end(),
                                  [&](const EditedSchedule& schedule) {
                                    return schedule.row.due.schedule_id == key.schedule_id;
                                  });
    PendingEffect effect = DecidePendingEffect(pending.run.row, change, kept, now_);
    if (effect == PendingEffect::kUnplan) {
      // If the schedule is removed too, nothing can be planned twice.
      pending.erased = change != JobChange::kPaused || Unplan(key);
      if (!pending.erased) effect = PendingEffect::kSkip;
    }
    if (effect == PendingEffect::kSkip) pending.ended = RunState::kSkipped;
    if (effect == PendingEffect::kCancel) pending.ended = RunState::kCancelled;
    if (effect == PendingEffect::kHoldBack) pending.held_back = true;
    pending.reason = why;
  }
}

}  // namespace carillon::mysql
