#include "common/adapters/mysql/operations/kept_runs.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/run_details.h"

namespace carillon::mysql {
namespace {

constexpr int64_t kMicrosOfDay = 86'400'000'000;
constexpr int64_t kOftenEnough = 8;  // runs that are skipped, open or planned ahead

constexpr std::string_view kKeptColumns =
    "fire_us, schedule_id, shard, job_no, segment, kind, state, attempt, priority, due_us, "
    "def_version, planned_us, claimed_us, started_us, ended_us, token_high, token_low, "
    "incarnation_no, cancel_requested, kill_attempt, slot_taken, group_no, group_slot, flags, "
    "output_truncated, exit_code, reason, pinned_executor, parameters, error, output, trace_id, "
    "outputs, started_by, detail, shard_total, rules";

struct JobsToKeep {
  struct One {
    uint64_t job_no;
    bool keeps;  // false: deleted, or with a shorter retention of its own
  };
  std::vector<One> jobs;
  int64_t next = 0;  // 0 = none is left
};

// Reads the jobs after number `from` that have runs in `table`, which has the index by_job.
Result<JobsToKeep> ReadJobsOf(Session& session, std::string_view table, int64_t from,
                              const Retention& retention) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          fmt::format("SELECT x.job_no, COALESCE(j.deleted = 0 AND (j.retention_days = 0 OR "
                      "j.retention_days >= ?), 0) FROM (SELECT DISTINCT r.job_no FROM {} r FORCE "
                      "INDEX (by_job) WHERE r.job_no > ? ORDER BY r.job_no LIMIT ?) x LEFT JOIN "
                      "jobs j ON j.job_no = x.job_no ORDER BY x.job_no",
                      table),
          {retention.runs.count() / kMicrosOfDay, from, kKeptJobsPerCall}));
  JobsToKeep found;
  while (rows.Next()) found.jobs.push_back({rows.Unsigned(1), rows.Int(2) != 0});
  const bool more = static_cast<int64_t>(found.jobs.size()) == kKeptJobsPerCall;
  if (more) found.next = static_cast<int64_t>(found.jobs.back().job_no);
  return found;
}

// Reads the newest finished runs of the job with fires at or after `from_us`. The newest runs of
// most jobs are finished, so it looks at few runs first.
Result<std::set<RunKey>> ReadNewest(Session& session, uint64_t job_no, int64_t from_us, int count) {
  std::set<RunKey> keys;
  for (const int64_t limit : {count + kOftenEnough, kNewestSearched}) {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query(
            "SELECT r.fire_us, r.schedule_id, r.shard, r.open_segment IS NULL AND r.state "
            "<> 'SKIPPED' FROM job_runs r FORCE INDEX (by_job) WHERE r.job_no = ? AND "
            "r.fire_us >= ? AND r.shard = 0 ORDER BY r.fire_us DESC, r.schedule_id DESC, r.shard "
            "DESC LIMIT ?",
            {job_no, from_us, limit}));
    int64_t read = 0;
    while (rows.Next()) {
      ++read;
      if (rows.Int(4) == 0 || keys.size() == static_cast<size_t>(count)) continue;
      keys.insert(
          {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
    }
    if (read < limit || keys.size() == static_cast<size_t>(count)) break;
    keys.clear();
  }
  return keys;
}

Result<std::set<RunKey>> ReadKept(Session& session, uint64_t job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT r.fire_us, r.schedule_id, r.shard FROM kept_runs r FORCE "
                               "INDEX (by_job) WHERE r.job_no = ?",
                               {job_no}));
  std::set<RunKey> keys;
  while (rows.Next()) {
    keys.insert(
        {rows.Time(1), ScheduleId(rows.Unsigned(2)), static_cast<uint32_t>(rows.Unsigned(3))});
  }
  return keys;
}

// Adds the kept runs of the job that it need not keep any more.
Status AddOutdated(Session& session, const JobsToKeep::One& job, const Retention& retention,
                   JsonRows& outdated) {
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> kept, ReadKept(session, job.job_no));
  std::set<RunKey> newest;
  if (job.keeps && retention.keep_last > 0) {
    CARILLON_ASSIGN_OR_RETURN(newest, ReadNewest(session, job.job_no, 0, retention.keep_last));
    newest.insert(kept.begin(), kept.end());
  }
  while (newest.size() > static_cast<size_t>(retention.keep_last)) newest.erase(newest.begin());
  for (const RunKey& key : kept) {
    if (!newest.contains(key)) outdated.Begin().Add(key);
  }
  return {};
}

}  // namespace

Result<bool> RunKeeper::Keep(Session& session, const OldDay& day) {
  // The past has few runs, those of old backfills, so it is looked at as a whole. Its progress is
  // not remembered, which would forget that of the day that is kept in several steps.
  const bool past = day.partition == "p_past";
  KeepProgress::Mark mark = progress_.Of(day.partition, retention_.keep_last);
  if (mark.done) return true;
  mark.keep_last = retention_.keep_last;
  do {
    CARILLON_ASSIGN_OR_RETURN(
        const JobsToKeep found,
        ReadJobsOf(session, fmt::format("job_runs PARTITION ({})", day.partition), mark.next_job,
                   retention_));
    for (const auto& job : found.jobs) {
      if (job.keeps) CARILLON_TRY(KeepOf(session, day, job.job_no));
    }
    mark.next_job = found.next;
  } while (past && mark.next_job != 0);
  mark.done = mark.next_job == 0;
  if (!past) progress_.Set(day.partition, mark);
  return mark.done;
}

Status RunKeeper::KeepOf(Session& session, const OldDay& day, uint64_t job_no) {
  CARILLON_ASSIGN_OR_RETURN(const std::set<RunKey> newer,
                            ReadNewest(session, job_no, day.below_us, retention_.keep_last));
  const int64_t wanted = retention_.keep_last - static_cast<int64_t>(newer.size());
  if (wanted <= 0) return {};
  CARILLON_TRY(session.Execute(
      fmt::format("REPLACE INTO kept_runs ({0}) SELECT {0} FROM job_runs PARTITION ({1}) FORCE "
                  "INDEX (by_job) WHERE job_no = ? AND fire_us < ? AND open_segment IS NULL AND "
                  "state <> 'SKIPPED' AND shard = 0 ORDER BY fire_us DESC, schedule_id DESC, shard "
                  "DESC LIMIT ?",
                  kKeptColumns, day.partition),
      {job_no, day.below_us, wanted}));
  return {};
}

Result<bool> RunKeeper::IsCurrent(Session& session, const OldDay& day) {
  // Without aliases: a table that is locked by its name has no other.
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT 1 FROM kept_runs STRAIGHT_JOIN job_runs FORCE INDEX (PRIMARY) ON "
                    "job_runs.fire_us = kept_runs.fire_us AND job_runs.schedule_id = "
                    "kept_runs.schedule_id AND job_runs.shard = kept_runs.shard WHERE "
                    "kept_runs.fire_us >= ? AND kept_runs.fire_us < ? AND (job_runs.attempt <> "
                    "kept_runs.attempt OR job_runs.ended_us <> kept_runs.ended_us OR "
                    "job_runs.state <> kept_runs.state) LIMIT 1",
                    {day.from_us, day.below_us}));
  const bool changed = rows.Next();
  if (changed) progress_.Forget(day.partition);
  return !changed;
}

Result<int64_t> DeleteKeptRuns(Pool& pool, int64_t from, const Retention& retention) {
  JsonRows outdated;
  int64_t next = 0;
  const auto find = [&](Session& session) -> Status {
    outdated = JsonRows();
    CARILLON_ASSIGN_OR_RETURN(const JobsToKeep found,
                              ReadJobsOf(session, kKeptRuns, from, retention));
    next = found.next;
    for (const auto& job : found.jobs) {
      CARILLON_TRY(AddOutdated(session, job, retention, outdated));
    }
    return {};
  };
  CARILLON_TRY(RunRead(pool, "retention", find));
  if (outdated.empty()) return next;
  const std::string keys = outdated.Take();
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t deleted, InTransaction(pool, {.operation = "retention"}, [&](Session& session) {
        return session.Execute(
            "DELETE r FROM JSON_TABLE(" CARILLON_JSON
            ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED "
            "PATH '$[2]')) k STRAIGHT_JOIN kept_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f "
            "AND r.schedule_id = k.s AND r.shard = k.h",
            {keys});
      }));
  static_cast<void>(deleted);
  return next;
}

}  // namespace carillon::mysql
