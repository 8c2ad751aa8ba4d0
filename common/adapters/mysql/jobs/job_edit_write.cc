// The writing half of JobEdit.
#include <algorithm>

#include "common/adapters/mysql/jobs/job_edit.h"
#include "common/adapters/mysql/rows/run_writer.h"

namespace carillon::mysql {

// Copies the data of the job that planning needs to one of its schedules.
void JobEdit::Fill(Place& place) const {
  DueSchedule& due = place.row.due;
  const JobDefinition& definition = job_.definition;
  due.job_no = job_.job_no;
  due.segment = job_.segment;
  due.version += 1;
  due.job_version = job_.version;
  due.dst_gap = definition.dst_gap;
  due.dst_repeat = definition.dst_repeat;
  due.misfire = MisfireRulesOf(definition);
  due.priority = definition.priority;
  place.row.set_place(place.next, definition.enabled);
}

Status JobEdit::Write(Session& session) {
  CARILLON_TRY(UpdateJob(session, job_, context_.actor));
  CARILLON_TRY(WriteSchedules(session));
  CARILLON_TRY(WriteRuns(session));
  CARILLON_TRY(TakeSlots(session));
  return InsertGaps(session, gaps_);
}

Status JobEdit::WriteSchedules(Session& session) {
  std::vector<StoredScheduleRow> kept;
  std::vector<StoredScheduleRow> added;
  for (size_t i = 0; i < places_.size(); ++i) {
    Fill(places_[i]);
    places_[i].row.position = static_cast<uint32_t>(i);
    (places_[i].added ? added : kept).push_back(places_[i].row);
  }
  CARILLON_TRY(DeleteSchedules(session, removed_));
  CARILLON_TRY(UpdateSchedules(session, kept));
  return InsertSchedules(session, added);
}

Status JobEdit::WriteRuns(Session& session) {
  static const std::string erase =
      "DELETE r FROM " + kKeysJoinRuns + " WHERE r.state = 'PENDING' AND r.attempt = 1";
  static const std::string stamp =
      "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
      "h INT UNSIGNED PATH '$[2]', u BIGINT PATH '$[3]', p INT PATH '$[4]')) k STRAIGHT_JOIN "
      "job_runs r "
      "FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s AND r.shard = k.h "
      "SET r.due_us = k.u, r.priority = k.p, r.def_version = ? WHERE r.state = 'PENDING'";
  JsonRows erased;
  JsonRows stamped;
  RunWriter writer(session);
  for (Pending& pending : pending_) {
    RunRow& row = pending.run.row;
    if (pending.erased) {
      erased.Begin().Add(row.key);
    } else if (pending.ended) {
      CARILLON_TRY(writer.End(pending.run, *pending.ended, pending.reason, context_.now));
    } else {
      if (pending.held_back) row.due = kNever;
      if (pending.released) row.due = context_.now;
      // Only manual runs may have a priority of their own.
      if (row.kind != RunKind::kManual && job_.readable) row.priority = job_.definition.priority;
      stamped.Begin().Add(row.key).Add(row.due).Add(row.priority);
    }
  }
  if (!erased.empty()) CARILLON_TRY(session.Execute(erase, {erased.Take()}));
  if (!stamped.empty()) CARILLON_TRY(session.Execute(stamp, {stamped.Take(), job_.version}));
  CARILLON_TRY(writer.Flush());
  if (context_.ended != nullptr) *context_.ended = writer.ended();
  return {};
}

// If an edit forbids overlap while runs of the job are active (some of them between two attempts),
// these runs take slots, which claims then respect. Slot 0 is reserved for claims, whose inserts
// must collide there, so these slots begin at 1.
Status JobEdit::TakeSlots(Session& session) {
  if (job_.definition.overlap_policy != OverlapPolicy::kSkip ||
      old_overlap_ == OverlapPolicy::kSkip) {
    return {};
  }
  uint64_t slot = 0;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query("SELECT slot_no FROM run_slots WHERE job_no = ? "
                                            "ORDER BY slot_no DESC LIMIT 1 FOR UPDATE",
                                            {job_.job_no.value()}));
    if (rows.Next()) slot = rows.Unsigned(1);
  }
  std::vector<RunKey> keys;
  for (const StoredRun& run : active_) {
    if (!run.slot_taken) keys.push_back(run.row.key);
  }
  for (const Pending& pending : pending_) {
    if (!pending.ended && pending.run.active && !pending.run.slot_taken) {
      keys.push_back(pending.run.row.key);
    }
  }
  for (const RunKey& key : keys) {
    CARILLON_TRY(
        session.Execute("INSERT INTO run_slots (job_no, slot_no, fire_us, schedule_id, shard) "
                        "VALUES (?, ?, ?, ?, ?)",
                        {job_.job_no.value(), ++slot, ToUnixMicros(key.fire),
                         key.schedule_id.value(), uint64_t{key.shard}}));
    CARILLON_TRY(session.Execute(
        "UPDATE job_runs SET slot_taken = 1 WHERE fire_us = ? AND schedule_id = ? AND shard = ?",
        {ToUnixMicros(key.fire), key.schedule_id.value(), uint64_t{key.shard}}));
  }
  return {};
}

}  // namespace carillon::mysql
