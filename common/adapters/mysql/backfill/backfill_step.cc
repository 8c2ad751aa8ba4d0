#include "common/adapters/mysql/backfill/backfill_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/adapters/mysql/backfill/backfill_rows.h"
#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/job_rows/calendar_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/schedule_rows.h"
#include "common/adapters/mysql/run_rows/keyed_runs.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/reported_ends.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/workflow/workflow_rows.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {
namespace {

// The rows of a step, locked in the order of sql/README.md.
struct StepState {
  JobRow job;
  std::vector<StoredScheduleRow> schedules = {};
  Backfill backfill = {};

  const StoredScheduleRow* own() const {
    const auto found =
        std::find_if(schedules.begin(), schedules.end(), [this](const StoredScheduleRow& row) {
          return row.due.schedule_id == backfill.terms.schedule_id;
        });
    return found == schedules.end() ? nullptr : &*found;
  }
  BackfillSchedules told_apart() const {
    BackfillSchedules ids{.own = backfill.terms.schedule_id};
    for (const StoredScheduleRow& row : schedules) ids.present.insert(row.due.schedule_id);
    return ids;
  }
};

// Counts the runs that have ended, and keeps the others. A run that is gone with its day counts as
// failed. Read without locks: a run that ends, or is retried by hand, at this moment is counted as
// it was before.
Status CountEnded(Session& session, Backfill* backfill) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard, r.state + 0 FROM " + kKeysJoinRuns;
  if (backfill->runs.empty()) return {};
  std::map<RunKey, std::optional<RunState>> states;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {KeysText(backfill->runs)}));
    while (rows.Next()) {
      const RunKey key{rows.Time(1), ScheduleId(rows.Unsigned(2)),
                       static_cast<uint32_t>(rows.Unsigned(3))};
      states[key] = StateOf(rows.Int(4));
    }
  }
  std::vector<RunKey> open;
  for (const RunKey& key : backfill->runs) {
    const auto found = states.find(key);
    if (found != states.end() && (!found->second || !IsFinal(*found->second))) {
      open.push_back(key);
    } else if (found != states.end() && found->second == RunState::kCompleted) {
      ++backfill->counts.succeeded;
    } else {
      ++backfill->counts.failed;
    }
  }
  backfill->runs = std::move(open);
  return {};
}

// Whoever started the backfill is asked in any case, because a backfill takes its time.
uint32_t FlagsOfGivers(const BackfillTerms& terms) {
  return BehalfFlagOf(terms.parameters_json, "");
}

Param ParametersOf(const BackfillTerms& terms) {
  if (terms.parameters_json.empty()) return nullptr;
  return std::string_view(terms.parameters_json);
}

Status InsertRuns(Session& session, const StepState& state, const std::vector<WallTime>& fires,
                  WallTime now, BackfillEffect* effect) {
  static const std::string statement = fmt::format(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, planned_us, flags, parameters) SELECT k.f, ?, 0, ?, "
      "?, ?, {}, {}, ?, GREATEST(?, k.f), ?, ?, ?, ? FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT "
      "PATH '$[0]')) k",
      NumberOf(RunKind::kBackfill), NumberOf(RunState::kPending));
  if (fires.empty()) return {};
  const Backfill& backfill = state.backfill;
  const BackfillTerms& terms = backfill.terms;
  const uint32_t flags = kBackfillFlags | FlagsOfGivers(terms);
  JsonRows rows;
  for (const WallTime fire : fires) {
    rows.Begin().Add(fire);
    effect->due.push_back({.key = {.fire = fire, .schedule_id = terms.schedule_id},
                           .job_no = backfill.job_no,
                           .segment = backfill.segment,
                           .kind = RunKind::kBackfill,
                           .due = std::max(now, fire),  // the clock may have been set back
                           .priority = terms.priority.value_or(state.job.priority),
                           .def_version = state.job.version,
                           .flags = flags});
  }
  const std::string keys = rows.Take();
  const uint64_t segment = backfill.segment.value();
  CARILLON_TRY(session.Execute(
      statement,
      {terms.schedule_id.value(), backfill.job_no.value(), segment, segment,
       int64_t{terms.priority.value_or(state.job.priority)}, ToUnixMicros(now), state.job.version,
       ToUnixMicros(now), uint64_t{flags}, ParametersOf(terms), keys}));
  return {};
}

// Writes what MarkBackfilled changed.
Status UpdateBackfilled(Session& session, const std::vector<RunRow>& runs,
                        const BackfillTerms& terms) {
  static const std::string statement = UpdateRuns(
      "x BIGINT UNSIGNED PATH '$[3]', y BIGINT UNSIGNED PATH '$[4]', g INT UNSIGNED PATH '$[5]'",
      fmt::format("r.kind = {}, r.flags = k.g, r.token_high = k.x, r.token_low = k.y, "
                  "r.parameters = ?",
                  NumberOf(RunKind::kBackfill)),
      "r.state = 'PENDING'");
  if (runs.empty()) return {};
  JsonRows rows;
  for (const RunRow& row : runs) {
    rows.Begin().Add(row.key).Add(row.claim_token.high).Add(row.claim_token.low).Add(row.flags);
  }
  CARILLON_TRY(session.Execute(statement, {rows.Take(), ParametersOf(terms)}));
  return {};
}

// The process of a node counts as one of its workflow: nobody has confirmed that it may run
// beside others. An attempt that was given up and has reported its end has left none.
Status NoteProcessesLeft(Session& session, LockedRuns* runs) {
  std::vector<RunKey> keys;
  std::vector<StoredRun> given_up;
  for (const auto& [key, run] : *runs) {
    keys.push_back(key);
    if (run.row.may_still_run) given_up.push_back(run);
  }
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> reported, ReportedOf(session, given_up));
  for (const RunKey& key : reported) runs->at(key).row.may_still_run = false;
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> left, WithProcessesLeft(session, keys));
  for (const RunKey& key : left) runs->at(key).row.may_still_run = true;
  return {};
}

// Runs again those of `keys` that still allow it now that they are locked.
Status RunAgain(Session& session, const std::vector<RunKey>& keys, const StepRules& rules,
                StepState& state, BackfillEffect* effect) {
  if (keys.empty()) return {};
  Backfill& backfill = state.backfill;
  const BackfillTerms& terms = backfill.terms;
  CARILLON_ASSIGN_OR_RETURN(LockedRuns locked, LockRuns(session, keys, rules.incarnations));
  CARILLON_TRY(NoteProcessesLeft(session, &locked));
  std::vector<std::pair<StoredRun*, RunChange>> again;
  std::vector<RunKey> ended;
  for (const RunKey& key : keys) {
    const auto found = locked.find(key);
    // A run that is gone with its day is not made anew: its day is not kept.
    if (found == locked.end()) {
      ++backfill.counts.existing;
      continue;
    }
    StoredRun& run = found->second;
    const auto verdict = DecideBackfill({run.row}, state.told_apart(), terms.rerun).verdict;
    if (!run.readable || verdict != BackfillVerdict::kRunAgain) {
      ++(verdict == BackfillVerdict::kExisting ? backfill.counts.existing
                                               : backfill.counts.refused);
      continue;
    }
    again.emplace_back(&run, RunAgainChange(run.row, state.job, terms.priority, rules.now));
    if (std::exchange(again.back().second.record_attempt, false)) ended.push_back(key);
  }
  CARILLON_TRY(RecordEndedAttempts(session, ended));
  RunWriter writer(session);
  for (const auto& [run, change] : again) {
    CARILLON_TRY(writer.Change(*run, change, {}, rules.now));
    MarkBackfilled(run->row);
    run->row.flags |= FlagsOfGivers(terms);
    ++backfill.counts.rerun;
    effect->due.push_back(run->row);
  }
  CARILLON_TRY(writer.Flush());
  return UpdateBackfilled(session, effect->due, terms);
}

Result<WallTime> ReadKeptFrom(Session& session, JobNo job_no, const StepRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT retention_days FROM jobs WHERE job_no = ?", {job_no.value()}));
  return KeptFrom(rules.now, rules.retention, rows.Next() ? rows.Int(1) : 0);
}

// Creates as many runs as there is room for.
Status CreateRuns(Session& session, const StoredScheduleRow& own, const StepRules& rules,
                  StepState& state, BackfillEffect* effect) {
  Backfill& backfill = state.backfill;
  const BackfillTerms& terms = backfill.terms;
  const int64_t open_max = OpenRunsMax(terms.concurrency, state.job.overlap);
  const BackfillRoom room{.runs = open_max - static_cast<int64_t>(backfill.runs.size())};
  if (room.runs <= 0) return {};
  WallTime place = own.place(!state.job.paused);
  CARILLON_ASSIGN_OR_RETURN(const Schedule schedule, CompileSchedule(session, own.due, &place));
  BackfillSpan left = SpanLeft(terms.from, terms.to, terms.order, backfill.cursor);
  CARILLON_ASSIGN_OR_RETURN(left.kept_from, ReadKeptFrom(session, backfill.job_no, rules));
  const NextFires next = NextFiresOf(schedule, left, place, room.looks);
  CARILLON_ASSIGN_OR_RETURN(const RunsByFire runs,
                            ReadRunsAt(session, backfill.job_no, next.fires));
  const BackfillPlan plan = PlanBackfill(next, runs, state.told_apart(), terms.rerun, left, room);
  std::vector<WallTime> fresh;
  std::vector<RunKey> again;
  for (const BackfillPlan::Item& item : plan.items) {
    if (item.choice.verdict == BackfillVerdict::kInsert) fresh.push_back(item.fire);
    if (item.choice.verdict == BackfillVerdict::kRunAgain) again.push_back(*item.choice.run);
  }
  CARILLON_TRY(RunAgain(session, again, rules, state, effect));
  CARILLON_TRY(InsertRuns(session, state, fresh, rules.now, effect));
  effect->created = fresh.size();
  backfill.counts.created += static_cast<int64_t>(fresh.size());
  backfill.counts.existing += plan.existing;
  backfill.counts.refused += plan.refused;
  backfill.cursor = plan.cursor;
  for (const RunRow& row : effect->due) backfill.runs.push_back(row.key);
  if (plan.looked_at_all && backfill.runs.empty()) backfill.state = BackfillState::kCompleted;
  effect->more = !plan.looked_at_all && static_cast<int64_t>(backfill.runs.size()) < open_max;
  return {};
}

Result<std::optional<StepState>> LockStep(Session& session, const OpenBackfill& open,
                                          const Fence& fence) {
  CARILLON_TRY(LockFence(session, fence));
  LockedJobs jobs;
  CARILLON_TRY(LockJobs(session, {open.job_no}, &jobs));
  if (jobs.empty()) return std::optional<StepState>();
  StepState state{.job = jobs.begin()->second};
  CARILLON_ASSIGN_OR_RETURN(state.schedules, ShareSchedules(session, open.job_no));
  Result<Backfill> backfill = LockBackfill(session, open.number);
  if (!backfill.ok() && backfill.code() == ErrorCode::kNotFound) return std::optional<StepState>();
  if (!backfill.ok()) return backfill.error();
  state.backfill = std::move(backfill).value();
  const bool astray =
      state.backfill.job_no != open.job_no || state.backfill.segment != open.segment;
  if (astray || HasEnded(state.backfill)) return std::optional<StepState>();
  return std::optional(std::move(state));
}

}  // namespace

Result<RunsByFire> ReadRunsAt(Session& session, JobNo job_no, const std::vector<WallTime>& fires) {
  static const std::string statement =
      "SELECT " + kRunColumns +
      " FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]')) k STRAIGHT_JOIN job_runs r FORCE "
      "INDEX (by_job) ON r.job_no = ? AND r.fire_us = k.f AND r.shard = 0";
  RunsByFire runs;
  if (fires.empty()) return runs;
  JsonRows wanted;
  for (const WallTime fire : fires) wanted.Begin().Add(fire);
  std::vector<RunKey> ended;
  std::vector<StoredRun> given_up;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take(), job_no.value()}));
    while (rows.Next()) {
      StoredRun run = ReadRun(rows);
      if (run.row.may_still_run) given_up.push_back(run);
      if (!NoteIfUnreadable(session, run)) run.row.may_still_run = true;
      if (IsFinal(run.row.state)) ended.push_back(run.row.key);
      runs[run.row.key.fire].push_back(std::move(run.row));
    }
  }
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> reported, ReportedOf(session, given_up));
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> left, WithProcessesLeft(session, ended));
  for (auto& [fire, rows] : runs) {
    for (RunRow& row : rows) {
      if (reported.contains(row.key)) row.may_still_run = false;
      if (left.contains(row.key)) row.may_still_run = true;
    }
  }
  return runs;
}

Result<BackfillEffect> StepBatch(Session& session, const OpenBackfill& open,
                                 const StepRules& rules) {
  CARILLON_ASSIGN_OR_RETURN(auto locked, LockStep(session, open, rules.fence));
  BackfillEffect effect;
  if (!locked) return effect;
  StepState& state = *locked;
  Backfill& backfill = state.backfill;
  const Backfill before = backfill;
  CARILLON_TRY(CountEnded(session, &backfill));
  const StoredScheduleRow* own = state.own();
  if (IsOpen(backfill.state) && (state.job.deleted || own == nullptr)) {
    backfill.state = BackfillState::kStopped;
    backfill.error = StoppedSentence(state.job.deleted);
  }
  const bool works = backfill.state == BackfillState::kRunning && !state.job.paused;
  // A version that cannot read the schedule leaves the backfill to one that can.
  if (works && own->due.readable) {
    CARILLON_TRY(CreateRuns(session, *own, rules, state, &effect));
  }
  if (!IsOpen(backfill.state) && backfill.runs.empty()) backfill.ended = rules.now;
  effect.open = backfill.runs;
  if (before == backfill) return effect;
  CARILLON_TRY(UpdateBackfill(session, backfill));
  return effect;
}

}  // namespace carillon::mysql
