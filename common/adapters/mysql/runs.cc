// Runs as people touch them: run now, cancel, retry.
#include <algorithm>

#include "common/adapters/mysql/job_rows.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/request_keys.h"
#include "common/adapters/mysql/run_details.h"
#include "common/adapters/mysql/run_rows.h"
#include "common/adapters/mysql/run_writer.h"
#include "common/adapters/mysql/transaction.h"

namespace carillon::mysql {
namespace {

constexpr int64_t kBusyMicrosecondsMax = 100'000;  // looked through for a free one

// With the job's row locked nobody else adds manual runs of it.
Result<WallTime> FreeMicrosecond(Session& session, const StoredJobRow& job, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT r.fire_us FROM job_runs r FORCE INDEX (by_job) WHERE "
                               "r.job_no = ? AND r.fire_us >= ? AND r.schedule_id = ? "
                               "ORDER BY r.fire_us LIMIT ?",
                               {job.job_no.value(), ToUnixMicros(now), job.manual_schedule.value(),
                                kBusyMicrosecondsMax}));
  WallTime free = now;
  while (rows.Next() && rows.Time(1) == free) free += 1us;
  if (free - now >= Duration(kBusyMicrosecondsMax)) {
    return {ErrorCode::kExhausted, "execute: no free microsecond for job " + job.job_id.value()};
  }
  return free;
}

Status InsertManualRun(Session& session, const StoredJobRow& job, const RunKey& key,
                       const ExecuteRequest& request, WallTime now) {
  const bool with_parameters = !request.parameters_json.empty();
  const Param parameters =
      with_parameters ? Param(std::string_view(request.parameters_json)) : Param(nullptr);
  CARILLON_TRY(session.Execute(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, planned_us, pinned_executor, parameters, trace_id) "
      "VALUES (?, ?, 0, ?, ?, ?, 'MANUAL', 'PENDING', ?, ?, ?, ?, ?, ?, NULLIF(?, ''))",
      {ToUnixMicros(key.fire), key.schedule_id.value(), job.job_no.value(),
       uint64_t{job.segment.value()}, uint64_t{job.segment.value()},
       int64_t{request.priority.value_or(job.definition.priority)}, ToUnixMicros(key.fire),
       job.version, ToUnixMicros(now), request.executor.value(), parameters, request.trace_id}));
  return {};
}

Result<bool> CancelLocked(StoredRun& run, RunWriter& writer, const WriteContext& context) {
  const CancelEffect effect = DecideCancel(run.row, context.cancel_mode, context.overlap());
  if (effect == CancelEffect::kNothing) return false;
  if (effect == CancelEffect::kAskedHarder) return true;
  if (effect == CancelEffect::kCancelledNow) {
    const std::string_view why = CancelReason(run.row);
    CARILLON_TRY(writer.End(run, RunState::kCancelled, why, context.now));
  } else {
    CARILLON_TRY(writer.RequestCancel(run, context.cancel_mode));
  }
  writer.Explain(run.row.key, CancelSentence({.effect = effect,
                                              .mode = context.cancel_mode,
                                              .actor = context.actor,
                                              .reason = context.reason}));
  return true;
}

// After the last write of a transaction.
void ReportEnds(const RunWriter& writer, const WriteContext& context) {
  if (context.ended != nullptr) *context.ended = writer.ended();
}

// What an executor said of the row's own attempt
// after it was given up stands with the earlier ones.
bool HasReportOf(const RunDetail& run, int attempt) {
  return std::any_of(run.attempts.begin(), run.attempts.end(),
                     [&](const RunAttempt& known) { return known.attempt == attempt; });
}

Error Unreadable(const RunKey& key) {
  return {ErrorCode::kCorrupt, "run " + EncodeRunId(key) + ": unknown state or kind"};
}

// Planned and not yet due: not something a person has to deal with.
bool IsAhead(const RunRow& row, WallTime now) {
  return row.state == RunState::kPending && row.attempt == 1 && row.kind != RunKind::kManual &&
         row.key.fire > now;
}

}  // namespace

Result<CreatedRun> MysqlStore::ExecuteJob(const ExecuteRequest& request,
                                          const WriteContext& context) {
  return InTransaction(
      *pool_, {.operation = "execute"}, [&](Session& session) -> Result<CreatedRun> {
        CARILLON_ASSIGN_OR_RETURN(const StoredJobRow job,
                                  LockLiveJob(session, request.job_id, JobLock::kUpdate));
        CARILLON_TRY(MustBeReadable(job));
        RunKey key{.fire = context.now, .schedule_id = job.manual_schedule};
        CARILLON_ASSIGN_OR_RETURN(key.fire, FreeMicrosecond(session, job, context.now));
        CARILLON_TRY(InsertManualRun(session, job, key, request, context.now));
        const CreatedRun created{key, job.job_no, job.segment};
        if (request.keyed) {
          const auto& keyed = *request.keyed;
          CARILLON_TRY(SettleRequest(session, keyed.scope, keyed.key, keyed.answer(created)));
        }
        return created;
      });
}

Result<bool> MysqlStore::CancelRun(const RunKey& key, const WriteContext& context) {
  return InTransaction(*pool_, {.operation = "cancel"}, [&](Session& session) -> Result<bool> {
    CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {key}, kept_->incarnations));
    if (runs.empty()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
    if (!runs.begin()->second.readable) return Unreadable(key);
    RunWriter writer(session);
    CARILLON_ASSIGN_OR_RETURN(const bool done, CancelLocked(runs.begin()->second, writer, context));
    CARILLON_TRY(writer.Flush());
    ReportEnds(writer, context);
    return done;
  });
}

Result<int64_t> MysqlStore::CancelJobRuns(const JobId& id, const WriteContext& context) {
  return InTransaction(
      *pool_, {.operation = "cancel runs"}, [&](Session& session) -> Result<int64_t> {
        CARILLON_ASSIGN_OR_RETURN(const StoredJobRow job,
                                  LockLiveJob(session, id, JobLock::kUpdate));
        CARILLON_ASSIGN_OR_RETURN(std::vector<RunKey> keys,
                                  ReadOpenKeys(session, job.job_no, job.segment));
        CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                                  LockRuns(session, std::move(keys), kept_->incarnations));
        RunWriter writer(session);
        int64_t cancelled = 0;
        for (auto& [key, run] : runs) {
          if (IsAhead(run.row, context.now)) continue;
          CARILLON_ASSIGN_OR_RETURN(const bool done, CancelLocked(run, writer, context));
          if (done) ++cancelled;
        }
        CARILLON_TRY(writer.Flush());
        ReportEnds(writer, context);
        return cancelled;
      });
}

Result<RunDetail> MysqlStore::RetryRun(const RetryRequest& request, const WriteContext& context) {
  const RunKey& key = request.key;
  return InTransaction(*pool_, {.operation = "retry"}, [&](Session& session) -> Result<RunDetail> {
    // A run's job never changes, so it may be read before the job is locked.
    CARILLON_ASSIGN_OR_RETURN(const RunDetail before,
                              ReadDetail(session, key, kept_->incarnations));
    CARILLON_ASSIGN_OR_RETURN(const StoredJobRow job, LockJob(session, before.row.job_no));
    CARILLON_ASSIGN_OR_RETURN(LockedRuns runs, LockRuns(session, {key}, kept_->incarnations));
    if (runs.empty()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
    StoredRun& run = runs.begin()->second;
    if (!run.readable) return Unreadable(key);
    // Read again: what the attempt left may have come in before the lock.
    CARILLON_ASSIGN_OR_RETURN(const RunDetail now_is,
                              ReadDetail(session, key, kept_->incarnations));
    if (HasReportOf(now_is, run.row.attempt)) run.row.may_still_run = false;
    CARILLON_ASSIGN_OR_RETURN(
        const RunChange change,
        DecideRetryByHand(run.row, ToJobRow(job), context.overlap(), context.now));
    AttemptResult ended = now_is.result;
    // What was only believed lost stays marked so: its real end may still be reported.
    ended.state = run.ended_by_loss ? RunState::kLost : run.row.state;
    RunWriter writer(session);
    CARILLON_TRY(writer.Change(run, change, ended, context.now));
    CARILLON_TRY(writer.Flush());
    CARILLON_ASSIGN_OR_RETURN(RunDetail retried, ReadDetail(session, key, kept_->incarnations));
    if (request.keyed) {
      const auto& keyed = *request.keyed;
      CARILLON_TRY(SettleRequest(session, keyed.scope, keyed.key, keyed.answer(retried)));
    }
    return retried;
  });
}

}  // namespace carillon::mysql
