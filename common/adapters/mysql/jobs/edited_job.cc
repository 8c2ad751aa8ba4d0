#include "common/adapters/mysql/jobs/edited_job.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/domain/nodes/for_run.h"
#include "common/domain/nodes/node_groups.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_key.h"

namespace carillon::mysql {
namespace {

// While the rows of the job and its schedules are locked, nobody can add a PENDING run of the job,
// and runs added before are committed. So a read without locks finds all keys; the states are then
// read from the locked rows.
Status LoadOpenRuns(Session& session, Incarnations& incarnations, EditedJob* edited) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<RunKey> keys,
                            ReadOpenKeys(session, edited->job.job_no, edited->job.segment));
  CARILLON_ASSIGN_OR_RETURN(LockedRuns locked, LockRuns(session, keys, incarnations));
  for (auto& [key, run] : locked) {
    if (run.row.state == RunState::kPending) {
      edited->pending.push_back({.run = std::move(run)});
    } else if (!IsFinal(run.row.state)) {
      edited->active.push_back(std::move(run));
    }
  }
  std::sort(edited->pending.begin(), edited->pending.end(),
            [](const EditedRun& a, const EditedRun& b) { return a.run.row.key < b.run.row.key; });
  return {};
}

Status LoadPastRecall(Session& session, WallTime now, EditedJob* edited) {
  static const std::string statement =
      "SELECT r.schedule_id, MAX(r.fire_us) FROM job_runs r FORCE INDEX (by_job) WHERE "
      "r.job_no = ? AND r.fire_us > ? AND NOT (r.state = 'PENDING' AND r.attempt = 1 AND " +
      KindsWith(&RunKindRules::planned_ahead) + ") GROUP BY r.schedule_id";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(statement, {edited->job.job_no.value(), ToUnixMicros(now)}));
  while (rows.Next()) edited->past_recall[ScheduleId(rows.Unsigned(1))] = rows.Time(2);
  return {};
}

// Copies the data of the job that planning needs to one of its schedules.
void Fill(const StoredJobRow& job, EditedSchedule& schedule) {
  DueSchedule& due = schedule.row.due;
  const JobDefinition& definition = job.definition;
  due.job_no = job.job_no;
  due.segment = job.segment;
  due.version += 1;
  due.job_version = job.version;
  due.dst_gap = definition.dst_gap;
  due.dst_repeat = definition.dst_repeat;
  due.misfire = MisfireRulesOf(definition);
  due.priority = definition.priority;
  due.run_flags = FlagsOfSchedule(definition, job.has_dependents);
  schedule.row.set_place(schedule.next, definition.enabled);
}

Status WriteSchedules(Session& session, EditedJob& edited) {
  std::vector<StoredScheduleRow> kept;
  std::vector<StoredScheduleRow> added;
  for (size_t i = 0; i < edited.schedules.size(); ++i) {
    EditedSchedule& schedule = edited.schedules[i];
    Fill(edited.job, schedule);
    schedule.row.position = static_cast<uint32_t>(i);
    (schedule.added ? added : kept).push_back(schedule.row);
  }
  CARILLON_TRY(DeleteSchedules(session, edited.removed));
  CARILLON_TRY(UpdateSchedules(session, kept));
  return InsertSchedules(session, added);
}

// The group that the node of the run names for it, whatever its job does; "" = none. nullopt: that
// of the job.
std::optional<std::string> GroupOfNode(const RunRow& row) {
  if ((row.flags & run_flag::kRules) == 0) return std::nullopt;
  const Result<RunRules> rules = RunRulesFromText(row.rules);
  return rules.ok() ? rules->concurrency_group : std::nullopt;
}

// True if the run, which waits for a group or has a slot of one, must be looked at anew.
bool MovesGroup(const EditedJob& edited, const RunRow& row) {
  return (edited.old_group != edited.job.group && !GroupOfNode(row)) ||
         TakesSlots(edited.old_overlap) != TakesSlots(edited.job.definition.overlap_policy);
}

// While its job takes slots, a queued run has one exactly if it waits for its group. A part waits
// for nothing else.
bool WaitsForGroup(const EditedJob& edited, const StoredRun& run) {
  const std::optional<std::string> own = GroupOfNode(run.row);
  const bool has_group = own ? !own->empty() : edited.old_group != GroupNo{};
  return has_group && run.row.state == RunState::kPending && run.row.due == kQueued &&
         (run.slot_taken || IsPart(run.row.key) || !TakesSlots(edited.old_overlap));
}

// Runs that wait for a group go by their new priority.
Status MoveRanks(Session& session, const EditedJob& edited) {
  static const std::string statement =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
      "h INT UNSIGNED PATH '$[2]', r INT PATH '$[3]')) k STRAIGHT_JOIN run_waits w FORCE INDEX "
      "(PRIMARY) ON w.fire_us = k.f AND w.schedule_id = k.s AND w.shard = k.h SET w.rank_no = k.r "
      "WHERE w.group_no > 0";
  JsonRows ranks;
  for (const EditedRun& pending : edited.pending) {
    if (pending.erased || pending.ended || !WaitsForGroup(edited, pending.run)) continue;
    ranks.Begin().Add(pending.run.row.key).Add(PlaceInGroup(pending.run.row).rank);
    if (ranks.size() == kKeysPerStatement) {
      CARILLON_TRY(session.Execute(statement, {ranks.Take()}));
    }
  }
  if (ranks.empty()) return {};
  CARILLON_TRY(session.Execute(statement, {ranks.Take()}));
  return {};
}

// For all runs that may make another attempt.
Status KeepFacts(Session& session, EditedJob& edited, const WriteContext& context) {
  KeptFacts& kept = edited.kept;
  if (!context.keep_zones) kept.zones = {};
  CARILLON_ASSIGN_OR_RETURN(std::vector<RunKey> keys,
                            ReadFailedRuns(session, edited.job.job_no, kept));
  for (const EditedRun& pending : edited.pending) {
    const RunKey& key = pending.run.row.key;
    if (!pending.erased && kept.Concern(key.schedule_id, IsPart(key))) keys.push_back(key);
  }
  for (const StoredRun& run : edited.active) {
    const RunKey& key = run.row.key;
    const bool in_parts = IsPart(key) || IsInParts(run.row);
    if (kept.Concern(key.schedule_id, in_parts)) keys.push_back(key);
  }
  return KeepParameters(session, keys, kept);
}

// The rows that WriteRuns has collected and not written yet, beside those of its writer.
struct PendingRows {
  std::vector<RunKey> erased = {};
  JsonRows stamped = {};
};

Status WriteRows(Session& session, const StoredJobRow& job, PendingRows& rows, RunWriter& writer) {
  static const std::string erase =
      "DELETE r FROM " + kKeysJoinRuns + " WHERE r.state = 'PENDING' AND r.attempt = 1";
  static const std::string stamp =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
      "h INT UNSIGNED PATH '$[2]', u BIGINT PATH '$[3]', p INT PATH '$[4]', g INT UNSIGNED PATH "
      "'$[5]', n INT UNSIGNED PATH '$[6]', t INT PATH '$[7]')) k STRAIGHT_JOIN job_runs r "
      "FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND r.schedule_id = k.s AND r.shard = k.h "
      "SET r.due_us = k.u, r.priority = k.p, r.def_version = ?, r.group_no = k.g, "
      "r.group_slot = k.n, r.slot_taken = k.t WHERE r.state = 'PENDING'";
  CARILLON_TRY(ExecuteForKeys(session, erase, rows.erased));
  rows.erased.clear();
  if (!rows.stamped.empty()) {
    CARILLON_TRY(session.Execute(stamp, {rows.stamped.Take(), job.version}));
  }
  return writer.Flush();
}

Status WriteRuns(Session& session, EditedJob& edited, const WriteContext& context) {
  const StoredJobRow& job = edited.job;
  const JobRow job_row = ToJobRow(job);
  PendingRows rows;
  RunWriter writer(session);
  size_t collected = 0;
  for (EditedRun& pending : edited.pending) {
    if (++collected % kKeysPerStatement == 0) CARILLON_TRY(WriteRows(session, job, rows, writer));
    RunRow& row = pending.run.row;
    if (pending.erased) {
      rows.erased.push_back(row.key);
      writer.Unqueue(pending.run);
      writer.Free(pending.run);
      writer.FreeGroupSlot(pending.run);
    } else if (pending.ended) {
      CARILLON_TRY(writer.End(pending.run, *pending.ended, pending.reason, context.now));
    } else {
      const bool moves = MovesGroup(edited, row);
      if (moves || pending.held_back) writer.FreeGroupSlot(pending.run);
      if (moves && WaitsForGroup(edited, pending.run)) {
        writer.Unqueue(pending.run);
        row.due = context.now;
      }
      if (pending.held_back) {
        writer.Unqueue(pending.run);
        row.due = kNever;
        // A run keeps its slot between two tries. One that never started may wait for weeks.
        if (IsFirstTry(row)) writer.Free(pending.run);
      }
      if (pending.released) row.due = context.now;
      if (job.readable) row.priority = NextPriority(row, ForRun(job_row, row).priority);
      rows.stamped.Begin()
          .Add(row.key)
          .Add(row.due)
          .Add(row.priority)
          .Add(row.group.value())
          .Add(pending.run.group_slot)
          .Add(SlotColumn(pending.run));
    }
  }
  CARILLON_TRY(WriteRows(session, job, rows, writer));
  if (context.ended != nullptr) *context.ended = writer.ended();
  return {};
}

// The former owner gave runs parameters, or released nodes, as their own job's. So did the owner of
// a workflow with its tasks. Nobody adds runs of tasks meanwhile: their workflow run begins under
// the lock of the job.
Status AskFormerOwner(Session& session, const EditedJob& edited) {
  static const std::string statement =
      UpdateRuns("", fmt::format("r.flags = r.flags | {}", run_flag::kOnBehalf),
                 fmt::format("r.open_segment IS NOT NULL AND ({} OR (r.flags & {}) <> 0)",
                             KindsWith(&RunKindRules::has_request), run_flag::kHasRequest));
  const JobDefinition& definition = edited.job.definition;
  if (!edited.job.readable || definition.user_id == edited.old_owner) return {};
  std::vector<RunKey> runs;
  const auto add = [&](const RunRow& row) {
    if (HasRequest(row.kind, row.flags)) runs.push_back(row.key);
  };
  for (const EditedRun& pending : edited.pending) {
    if (!pending.erased && !pending.ended) add(pending.run.row);
  }
  for (const StoredRun& run : edited.active) add(run.row);
  CARILLON_TRY(ExecuteForKeys(session, statement, runs));
  if (!definition.workflow) return {};
  CARILLON_ASSIGN_OR_RETURN(
      const std::vector<RunKey> tasks,
      ReadOpenKeys(session, TaskJobOf(edited.job.job_no), edited.job.segment));
  return ExecuteForKeys(session, statement, tasks);
}

// If an edit limits the active runs of a job while some are active (a few of them between two
// attempts), these runs take slots, which claims then respect. Claims take numbers below
// max_running, where their inserts must collide, so the numbers of these slots are higher.
Status TakeSlots(Session& session, const EditedJob& edited) {
  const StoredJobRow& job = edited.job;
  if (!TakesSlots(job.definition.overlap_policy) || TakesSlots(edited.old_overlap)) return {};
  auto slot = static_cast<uint64_t>(job.definition.max_running);
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query("SELECT slot_no FROM run_slots WHERE job_no = ? "
                                            "ORDER BY slot_no DESC LIMIT 1 FOR UPDATE",
                                            {job.job_no.value()}));
    if (rows.Next()) slot = std::max(slot, rows.Unsigned(1) + 1);
  }
  std::vector<RunKey> keys;
  const auto add = [&](const StoredRun& run) {
    // The slot of a fire is that of its own run.
    const bool counts = run.active && !IsPart(run.row.key);
    if (counts && !run.slot_taken) keys.push_back(run.row.key);
  };
  for (const StoredRun& run : edited.active) add(run);
  for (const EditedRun& pending : edited.pending) {
    if (!pending.ended && !pending.erased) add(pending.run);
  }
  for (const RunKey& key : keys) {
    CARILLON_TRY(
        session.Execute("INSERT INTO run_slots (job_no, slot_no, fire_us, schedule_id, shard) "
                        "VALUES (?, ?, ?, ?, ?)",
                        {job.job_no.value(), slot++, ToUnixMicros(key.fire),
                         key.schedule_id.value(), uint64_t{key.shard}}));
    CARILLON_TRY(session.Execute(
        "UPDATE job_runs SET slot_taken = 1 WHERE fire_us = ? AND schedule_id = ? AND shard = ?",
        {ToUnixMicros(key.fire), key.schedule_id.value(), uint64_t{key.shard}}));
  }
  return {};
}

// Runs that are queued obey the new queue_timeout, from the time when they were queued.
Status MoveExpiry(Session& session, const EditedJob& edited) {
  // Says in SQL what QueueExpiry decides. Runs that may not expire keep kNever.
  static const std::string statement =
      "UPDATE run_waits w FORCE INDEX (by_job) STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON "
      "r.fire_us = w.fire_us AND r.schedule_id = w.schedule_id AND r.shard = w.shard SET "
      "w.expires_us = IF(? = 0, ?, w.queued_us + ? * 1000000) WHERE w.segment = ? AND "
      "w.job_no = ? AND " +
      KindsWith(&RunKindRules::may_expire) + " AND " + NotBackground();
  const StoredJobRow& job = edited.job;
  const int64_t timeout_s = job.definition.queue_timeout_s;
  if (timeout_s == edited.old_queue_timeout_s) return {};
  CARILLON_TRY(session.Execute(statement, {timeout_s, ToUnixMicros(kNever), timeout_s,
                                           uint64_t{job.segment.value()}, job.job_no.value()}));
  return {};
}

}  // namespace

Result<EditedJob> LockEdited(Session& session, const JobId& id, const JobDefinition* replacement,
                             WallTime now, Incarnations& incarnations) {
  EditedJob edited;
  CARILLON_ASSIGN_OR_RETURN(edited.job, LockLiveJob(session, id, JobLock::kUpdate));
  const JobDefinition& definition = edited.job.definition;
  edited.old_owner = definition.user_id;
  edited.old_overlap = definition.overlap_policy;
  edited.old_queue_timeout_s = definition.queue_timeout_s;
  edited.old_group = edited.job.group;
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredScheduleRow> rows,
                            LockSchedules(session, edited.job.job_no));
  std::sort(rows.begin(), rows.end(), [](const StoredScheduleRow& a, const StoredScheduleRow& b) {
    return a.position < b.position;
  });
  if (replacement != nullptr) {
    CARILLON_ASSIGN_OR_RETURN(edited.groups, LockGroupNumbers(session, GroupsOf(*replacement)));
    const auto own = edited.groups.find(replacement->concurrency_group);
    if (own != edited.groups.end()) edited.new_group = own->second;
  }
  std::set<std::string> calendars;
  AddCalendarNames(definition, &calendars);
  if (replacement != nullptr) AddCalendarNames(*replacement, &calendars);
  CARILLON_ASSIGN_OR_RETURN(edited.calendars, LockCalendars(session, calendars));
  for (StoredScheduleRow& row : rows) {
    const std::vector<ScheduleSpec>& specs = definition.schedules;
    if (row.position < specs.size()) {
      // The parameters, the names of calendars and jobs, and what an event must be like are in the
      // definition alone.
      const ScheduleSpec& spec = specs[row.position];
      if (!row.due.readable) row.due.spec = spec;
      row.due.spec.parameters = spec.parameters;
      row.due.spec.calendar = spec.calendar;
      row.due.spec.blackout = spec.blackout;
      row.due.spec.upstream = spec.upstream;
      row.due.spec.on = spec.on;
      row.due.spec.event_type = spec.event_type;
      row.due.spec.event_source = spec.event_source;
      row.due.spec.filter = spec.filter;
    }
    // A calendar that cannot be read does not hinder edits; the planner sets the schedule aside.
    auto limits = edited.calendars->Of(row.due.calendars);
    const WallTime next = row.place(definition.enabled);
    edited.schedules.push_back(
        {.row = std::move(row),
         .next = next,
         .calendars = limits.ok() ? std::move(*limits) : ScheduleCalendars()});
  }
  CARILLON_TRY(LoadOpenRuns(session, incarnations, &edited));
  CARILLON_TRY(LoadPastRecall(session, now, &edited));
  return edited;
}

Status WriteEdited(Session& session, EditedJob& edited, const WriteContext& context) {
  CARILLON_TRY(UpdateJob(session, edited.job, context.actor));
  CARILLON_TRY(WriteSchedules(session, edited));
  CARILLON_TRY(KeepFacts(session, edited, context));
  CARILLON_TRY(WriteRuns(session, edited, context));
  CARILLON_TRY(AskFormerOwner(session, edited));
  CARILLON_TRY(TakeSlots(session, edited));
  CARILLON_TRY(MoveExpiry(session, edited));
  CARILLON_TRY(MoveRanks(session, edited));
  return InsertGaps(session, edited.gaps);
}

}  // namespace carillon::mysql
