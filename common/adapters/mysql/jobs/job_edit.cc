#include "common/adapters/mysql/jobs/job_edit.h"

#include <algorithm>

#include "common/adapters/mysql/rows/run_writer.h"
#include "common/domain/job/pending_fires.h"

namespace carillon::mysql {
Result<JobEdit> JobEdit::Begin(Session& session, const JobId& id, const WriteContext& context,
                               Incarnations& incarnations) {
  JobEdit edit(incarnations, context);
  CARILLON_ASSIGN_OR_RETURN(edit.job_, LockLiveJob(session, id, JobLock::kUpdate));
  edit.old_overlap_ = edit.job_.definition.overlap_policy;
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredScheduleRow> rows,
                            LockSchedules(session, edit.job_.job_no));
  std::sort(rows.begin(), rows.end(), [](const StoredScheduleRow& a, const StoredScheduleRow& b) {
    return a.position < b.position;
  });
  for (StoredScheduleRow& row : rows) {
    const std::vector<ScheduleSpec>& specs = edit.job_.definition.schedules;
    if (!row.due.readable && row.position < specs.size()) row.due.spec = specs[row.position];
    const WallTime next = row.place(edit.job_.definition.enabled);
    edit.places_.push_back({std::move(row), next});
  }
  CARILLON_TRY(edit.LoadOpenRuns(session));
  CARILLON_TRY(edit.LoadPastRecall(session));
  return edit;
}

// While the rows of the job and its schedules are locked, nobody can add a PENDING run of the job,
// and runs added before are committed. So a read without locks finds all keys; the states are then
// read from the locked rows.
Status JobEdit::LoadOpenRuns(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> keys,
                            ReadOpenKeys(session, job_.job_no, job_.segment));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns locked, LockRuns(session, keys, incarnations_));
  for (auto& [key, run] : locked) {
    if (run.row.state == RunState::kPending) {
      pending_.push_back({.run = std::move(run)});
    } else if (!IsFinal(run.row.state)) {
      active_.push_back(std::move(run));
    }
  }
  std::sort(pending_.begin(), pending_.end(),
            [](const Pending& a, const Pending& b) { return a.run.row.key < b.run.row.key; });
  return {};
}

Status JobEdit::LoadPastRecall(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT r.schedule_id, MAX(r.fire_us) FROM job_runs r FORCE INDEX (by_job) "
                    "WHERE r.job_no = ? AND r.fire_us > ? AND (r.state <> 'PENDING' OR "
                    "r.attempt > 1) GROUP BY r.schedule_id",
                    {job_.job_no.value(), ToUnixMicros(context_.now)}));
  while (rows.Next()) past_recall_[ScheduleId(rows.Unsigned(1))] = rows.Time(2);
  return {};
}

StoredJob JobEdit::ToStored() const {
  StoredJob stored{.job_no = job_.job_no,
                   .job_id = job_.job_id,
                   .segment = job_.segment,
                   .version = job_.version,
                   .definition = job_.definition,
                   .schedules = {},
                   .pause_reason = job_.pause_reason,
                   .created = job_.created,
                   .updated = job_.updated};
  for (const Place& place : places_) {
    stored.schedules.push_back({place.row.due.schedule_id, place.row.due.spec});
  }
  return stored;
}

void JobEdit::NextVersion() {
  ++job_.version;
  job_.updated = TimeOfNextVersion(job_.updated, context_.now);
}

// Returns the rules for clock changes by which the schedule was planned.
JobDefinition JobEdit::RulesOf(const Place& place, const JobDefinition& definition) {
  JobDefinition rules;
  rules.dst_gap = place.row.due.readable ? place.row.due.dst_gap : definition.dst_gap;
  rules.dst_repeat = place.row.due.readable ? place.row.due.dst_repeat : definition.dst_repeat;
  return rules;
}

void JobEdit::Remove(Place& place, const JobDefinition& definition, GapReason reason) {
  const ScheduleId id = place.row.due.schedule_id;
  const JobDefinition rules = RulesOf(place, definition);
  const GapRange missed = PassOver(rules, place.row.due.spec, reason, context_.now, &place.next);
  if (missed.count > 0) gaps_.push_back({id, job_.job_no, missed});
  removed_.push_back(id);
}

void JobEdit::Replace(const JobDefinition& definition, std::vector<ScheduleId> ids) {
  const JobDefinition old = job_.definition;
  job_.definition = definition;
  job_.readable = true;
  NextVersion();
  std::vector<Place> left = std::move(places_);
  places_.clear();
  for (const ScheduleSpec& spec : definition.schedules) {
    const auto same = std::find_if(left.begin(), left.end(), [&](const Place& place) {
      return place.row.due.readable && place.row.due.spec == spec &&
             FiresAlike(RulesOf(place, old), definition, spec);
    });
    if (same != left.end()) {
      places_.push_back(std::move(*same));
      left.erase(same);
      continue;
    }
    Place fresh{.row = {}, .next = FirstFireAfter(definition, spec, context_.now), .added = true};
    fresh.row.due.schedule_id = ids.back();
    fresh.row.due.spec = spec;
    ids.pop_back();
    places_.push_back(std::move(fresh));
  }
  const GapReason reason = old.enabled ? GapReason::kEdited : GapReason::kPaused;
  for (Place& place : left) Remove(place, old, reason);
  ChangePending(JobChange::kEdited, reason::kEdited);
  if (old.enabled && !definition.enabled) PauseRuns("");
  if (!old.enabled && definition.enabled) ResumeSchedules();
}

void JobEdit::Pause(const std::string& reason) {
  NextVersion();
  PauseRuns(reason);
}

void JobEdit::ExplainPause(const std::string& reason) {
  NextVersion();
  job_.pause_reason = reason;
}

void JobEdit::PauseRuns(const std::string& reason) {
  job_.definition.enabled = false;
  job_.pause_reason = reason;
  ChangePending(JobChange::kPaused, reason::kPaused);
}

void JobEdit::Resume() {
  NextVersion();
  ResumeSchedules();
}

void JobEdit::ResumeSchedules() {
  job_.definition.enabled = true;
  job_.pause_reason.clear();
  for (Place& place : places_) {
    const GapRange missed = PassOver(job_.definition, place.row.due.spec, GapReason::kPaused,
                                     context_.now, &place.next);
    if (missed.count > 0) gaps_.push_back({place.row.due.schedule_id, job_.job_no, missed});
  }
  for (Pending& pending : pending_) pending.released = pending.run.row.due == kNever;
}

void JobEdit::Delete() {
  job_.deleted = true;
  NextVersion();
  ChangePending(JobChange::kDeleted, reason::kDeleted);
  const GapReason reason = job_.definition.enabled ? GapReason::kDeleted : GapReason::kPaused;
  for (Place& place : places_) Remove(place, job_.definition, reason);
  places_.clear();
}

// Moves the schedule back to a planned run, so that it is planned again. False if a later run of
// the schedule cannot be unplanned (because it was cancelled early, for example): moving back
// before it would plan its key twice.
bool JobEdit::Unplan(const RunKey& key) {
  const auto later = past_recall_.find(key.schedule_id);
  if (later != past_recall_.end() && later->second >= key.fire) return false;
  for (Place& place : places_) {
    if (place.row.due.schedule_id == key.schedule_id) place.next = std::min(place.next, key.fire);
  }
  return true;
}

void JobEdit::ChangePending(JobChange change, std::string_view why) {
  for (Pending& pending : pending_) {
    if (pending.erased || pending.ended) continue;
    const RunKey& key = pending.run.row.key;
    const bool kept = key.schedule_id == job_.manual_schedule ||
                      std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
                        return place.row.due.schedule_id == key.schedule_id;
                      });
    PendingEffect effect = DecidePendingEffect(pending.run.row, change, kept, context_.now);
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
