#include "common/adapters/mysql/runs/mysql_run_store.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/adapters/mysql/client/ascii.h"
#include "common/adapters/mysql/client/conditions.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/run_rows/cancel_rows.h"
#include "common/adapters/mysql/run_rows/checkpoint_rows.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/adapters/mysql/run_rows/part_rows.h"
#include "common/adapters/mysql/run_rows/run_details.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/run_rows/run_writer.h"
#include "common/adapters/mysql/runs/gap_filter.h"
#include "common/adapters/mysql/runs/give_up.h"
#include "common/adapters/mysql/runs/job_cancel.h"
#include "common/adapters/mysql/runs/recent_runs.h"
#include "common/adapters/mysql/runs/run_retry.h"
#include "common/adapters/mysql/runs/run_search.h"
#include "common/adapters/mysql/workflow/workflow_control.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/run_kind.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/parameters_json.h"

namespace carillon::mysql {
namespace {

constexpr int64_t kBusyMicrosecondsMax = 100'000;  // bounds the search of FreeMicrosecond

// Returns the first time from `now` on at which the job has no manual run. The caller must hold the
// lock of the job's row, so that nobody else adds manual runs of the job.
Result<WallTime> FreeMicrosecond(Session& session, const StoredJobRow& job, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT r.fire_us FROM job_runs r FORCE INDEX (by_job) WHERE "
                               "r.job_no = ? AND r.fire_us >= ? AND r.schedule_id = ? AND "
                               "r.shard = 0 ORDER BY r.fire_us LIMIT ?",
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
      "state, priority, due_us, def_version, planned_us, pinned_executor, parameters, trace_id, "
      "flags) VALUES (?, ?, 0, ?, ?, ?, 'MANUAL', 'PENDING', ?, ?, ?, ?, ?, ?, NULLIF(?, ''), ?)",
      {ToUnixMicros(key.fire), key.schedule_id.value(), job.job_no.value(),
       uint64_t{job.segment.value()}, uint64_t{job.segment.value()},
       int64_t{request.priority.value_or(job.definition.priority)}, ToUnixMicros(key.fire),
       job.version, ToUnixMicros(now), request.executor.value(), parameters, request.trace_id,
       uint64_t{EndFlags(RunKind::kManual, 0, job.has_dependents) |
                BehalfFlagOf(request.parameters_json, job.definition.user_id)}}));
  return {};
}

// Reports to the caller which runs the writer ended. Call it after the last write of a transaction.
void ReportEnds(const RunWriter& writer, const WriteContext& context) {
  if (context.ended != nullptr) *context.ended = writer.ended();
}

Result<int64_t> CountOpen(Session& session, std::string_view states) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT COUNT(*) FROM (SELECT 1 FROM job_runs r FORCE INDEX "
                                "(open_runs) WHERE r.open_segment IS NOT NULL AND r.state IN ({}) "
                                "AND {} LIMIT {}) x",
                                states, kIsOwnRun, kCountedMax)));
  rows.Next();
  return rows.Int(1);
}

// Returns the smallest id of the gaps that end in the wanted time. A list of gaps is read by
// descending id. If only few of many gaps match, this bound ends the read early.
Result<std::optional<uint64_t>> OldestGapEndingSince(Session& session, const GapFilter& filter) {
  const Conditions since = GapsEndingSince(filter);
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT MIN(g.id) FROM run_gaps g FORCE INDEX (by_end) WHERE " + since.text(),
                    since.params()));
  if (!rows.Next() || rows.IsNull(1)) return std::optional<uint64_t>();
  return std::optional(rows.Unsigned(1));
}

const std::string kSelectLetters =
    "SELECT d.id, d.fire_us, d.schedule_id, d.shard, j.job_id, d.state, d.attempts, d.reason, "
    "d.created_us FROM dead_letters d JOIN jobs j ON j.job_no = d.job_no";

// Returns the dead letters of a list and of its count, without the cursor.
CountedRows LettersOf(const DeadLetterFilter& filter) {
  CountedRows rows{.from = "dead_letters d", .order = "d.id DESC", .within = {}};
  if (filter.job_id) {
    rows.within.Add("d.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ?)",
                    {filter.job_id->value()});
  }
  return rows;
}

Error NoLetter(uint64_t id) { return {ErrorCode::kNotFound, fmt::format("no dead letter {}", id)}; }

// The newest dead letter of each job. Reads one index entry for each job (loose index scan), not
// one for each dead letter. Joins only the jobs of the page.
const std::string kSelectLetterJobs =
    "SELECT x.newest, j.job_id, j.name, j.deleted FROM (SELECT y.job_no, y.newest FROM "
    "(SELECT d.job_no, MAX(d.id) AS newest FROM dead_letters d FORCE INDEX (by_job) "
    "GROUP BY d.job_no LIMIT ?) y WHERE y.newest < ? ORDER BY y.newest DESC LIMIT ?) x "
    "STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = x.job_no ORDER BY x.newest "
    "DESC";

// Returns nullopt if the row cannot be read, and reports it to the session.
std::optional<DeadLetter> ReadLetter(Session& session, const Rows& rows) {
  const uint64_t id = rows.Unsigned(1);
  const Result<RunState> state = ParseRunState(rows.Text(6));
  if (!state.ok()) {
    session.NoteUnreadable("dead_letters", std::to_string(id), "unknown state");
    return std::nullopt;
  }
  return DeadLetter{
      .id = id,
      .key = {rows.Time(2), ScheduleId(rows.Unsigned(3)), static_cast<uint32_t>(rows.Unsigned(4))},
      .job_id = JobId(rows.Text(5)),
      .state = *state,
      .attempts = static_cast<int>(rows.Int(7)),
      .reason = rows.Text(8),
      .created = rows.Time(9)};
}

}  // namespace

Result<CreatedRun> MysqlRunStore::ExecuteJob(const ExecuteRequest& request,
                                             const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "execute"}, [&](Session& session) -> Result<CreatedRun> {
        CARILLON_ASSIGN_OR_RETURN(const StoredJobRow job,
                                  LockLiveJob(session, request.job_id, JobLock::kUpdate));
        CARILLON_TRY(MustBeReadable(job));
        CARILLON_TRY(CheckParametersText(job.definition, request.parameters_json));
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

Status MysqlRunStore::CancelNodesOf(std::vector<RunKey> own_runs, const WriteContext& context) {
  // The ends of nodes are not reported to the caller: it asked for those of the run itself.
  WriteContext inner = context;
  inner.ended = nullptr;
  for (size_t i = 0; i < own_runs.size(); ++i) {
    CARILLON_ASSIGN_OR_RETURN(
        const std::vector<RunKey> nested,
        InTransaction(db_.pool(), {.operation = "cancel nodes"}, [&](Session& session) {
          return CancelNodes(session, own_runs[i], inner, db_.caches().incarnations);
        }));
    own_runs.insert(own_runs.end(), nested.begin(), nested.end());
  }
  return {};
}

Result<bool> MysqlRunStore::CancelRun(const RunKey& key, const WriteContext& context) {
  if (context.give_up) {
    return InTransaction(db_.pool(), {.operation = "give up"}, [&](Session& session) {
      return GiveUpRun(session, key, context, db_.caches().incarnations);
    });
  }
  bool maybe_workflow = false;
  CARILLON_ASSIGN_OR_RETURN(
      const bool done,
      InTransaction(db_.pool(), {.operation = "cancel"}, [&](Session& session) -> Result<bool> {
        CARILLON_ASSIGN_OR_RETURN(LockedRuns runs,
                                  LockRuns(session, {key}, db_.caches().incarnations));
        if (runs.empty()) return NotOpenable(session, key);
        StoredRun& run = runs.begin()->second;
        if (!run.readable) return UnreadableRun(key);
        maybe_workflow = MayHaveNodes(run);
        RunWriter writer(session);
        CARILLON_ASSIGN_OR_RETURN(
            const CancelEffect effect,
            CancelLocked(run, {session, db_.caches().incarnations, writer}, TermsOf(context)));
        CARILLON_TRY(writer.Flush());
        ReportEnds(writer, context);
        return IsCancel(effect);
      }));
  if (done && maybe_workflow) CARILLON_TRY(CancelNodesOf({key}, context));
  return done;
}

Result<int64_t> MysqlRunStore::CancelJobRuns(const JobId& id, const WriteContext& context) {
  std::vector<RunKey> maybe_workflows;
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t count,
      CancelRunsOf(db_.pool(), id, context, db_.caches().incarnations, &maybe_workflows));
  CARILLON_TRY(CancelNodesOf(std::move(maybe_workflows), context));
  return count;
}

Result<RunDetail> MysqlRunStore::RetryRun(const RetryRequest& request,
                                          const WriteContext& context) {
  return InTransaction(db_.pool(), {.operation = "retry"}, [&](Session& session) {
    return RetryIn(session, request, context, db_.caches().incarnations);
  });
}

Result<std::vector<RecentRuns>> MysqlRunStore::ListRecentRuns(const RecentFilter& filter) {
  if (filter.job_ids.empty()) return std::vector<RecentRuns>();
  return InList(db_.pool(), "recent runs",
                [&](Session& session) { return ReadRecentRuns(session, filter); });
}

Result<RunDetail> MysqlRunStore::GetRun(const RunKey& key) {
  return InRead(db_.pool(), "get run", [&](Session& session) -> Result<RunDetail> {
    CARILLON_ASSIGN_OR_RETURN(RunDetail detail,
                              ReadDetail(session, key, db_.caches().incarnations));
    if (!detail.kept) {
      CARILLON_ASSIGN_OR_RETURN(detail.saved, ReadSaved(session, key));
    }
    return detail;
  });
}

Result<std::vector<RunPart>> MysqlRunStore::ListParts(const RunKey& own) {
  return InList(db_.pool(), "list parts", [&](Session& session) -> Result<std::vector<RunPart>> {
    CARILLON_ASSIGN_OR_RETURN(std::vector<RunPart> parts,
                              ReadParts(session, own, db_.caches().incarnations));
    if (!parts.empty()) return parts;
    CARILLON_ASSIGN_OR_RETURN(const RunDetail exists,
                              ReadDetail(session, own, db_.caches().incarnations));
    static_cast<void>(exists);
    return parts;
  });
}

Result<std::map<RunKey, PartCounts>> MysqlRunStore::CountParts(const std::vector<RunKey>& owns) {
  return InList(db_.pool(), "count parts",
                [&](Session& session) { return ReadPartCounts(session, owns); });
}

Result<RunPage> MysqlRunStore::ListRuns(const RunFilter& filter, WallTime now) {
  return InList(db_.pool(), "list runs", [&](Session& session) {
    return SearchRuns(session, filter, {.segment_count = db_.segment_count(), .now = now},
                      db_.caches().incarnations);
  });
}

Result<BoundedCount> MysqlRunStore::CountRuns(const RunFilter& filter, WallTime now) {
  return InCount(db_.pool(), [&](Session& session) {
    return CountFound(session, filter, {.segment_count = db_.segment_count(), .now = now});
  });
}

Result<uint64_t> MysqlRunStore::RunsFingerprint(WallTime now) {
  return InList(db_.pool(), "mark of runs", [&](Session& session) {
    return ReadMark(session, {.segment_count = db_.segment_count(), .now = now});
  });
}

Result<GapPage> MysqlRunStore::ListGaps(const GapFilter& filter) {
  return InList(db_.pool(), "list gaps", [&](Session& session) -> Result<GapPage> {
    Conditions where;
    where.Add("g.id < ?", {filter.before_id});
    where.Add(GapsOfJob(filter));
    where.Add(GapsEndingSince(filter));
    where.Add(OtherwiseOfGaps(filter));
    if (filter.since && !filter.job_id) {
      CARILLON_ASSIGN_OR_RETURN(const auto oldest, OldestGapEndingSince(session, filter));
      if (!oldest) return GapPage{};
      where.Add("g.id >= ?", {*oldest});
    }
    Params params = where.params();
    params.push_back(static_cast<uint64_t>(filter.limit + 1));
    // Selects the page in a subquery first. In a plain join with jobs, the optimizer may choose to
    // sort all gaps, or to read all gaps of each job.
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query(fmt::format("SELECT g.id, g.schedule_id, j.job_id, g.from_us, g.to_us, "
                                  "g.fires, g.reason FROM (SELECT g.* FROM run_gaps g {} WHERE {} "
                                  "ORDER BY g.id DESC LIMIT ?) g STRAIGHT_JOIN jobs j ON "
                                  "j.job_no = g.job_no ORDER BY g.id DESC",
                                  filter.job_id ? "" : "FORCE INDEX (PRIMARY)", where.text()),
                      params));
    GapPage page;
    uint64_t last = 0;
    size_t read = 0;
    while (rows.Next()) {
      if (read == filter.limit) {
        page.next = last;
        break;
      }
      const Result<GapReason> reason = ParseGapReason(rows.Text(7));
      last = rows.Unsigned(1);
      ++read;
      if (!reason.ok()) {
        session.NoteUnreadable("run_gaps", std::to_string(last), "unknown reason");
        continue;
      }
      page.gaps.push_back({ScheduleId(rows.Unsigned(2)), JobId(rows.Text(3)),
                           GapRange{rows.Time(4), rows.Time(5), rows.Int(6), *reason}});
    }
    return page;
  });
}

Result<RunCounts> MysqlRunStore::CountOpenRuns() {
  return InList(db_.pool(), "count", [](Session& session) -> Result<RunCounts> {
    RunCounts counts;
    CARILLON_ASSIGN_OR_RETURN(counts.pending, CountOpen(session, "'PENDING'"));
    CARILLON_ASSIGN_OR_RETURN(counts.running, CountOpen(session, "'RUNNING', 'HELD'"));
    return counts;
  });
}

Result<std::vector<DeadLetter>> MysqlRunStore::ListDeadLetters(const DeadLetterFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return std::vector<DeadLetter>();
  const CountedRows all = LettersOf(filter);
  const std::string statement =
      kSelectLetters + " WHERE d.id < ? AND " + all.within.text() + " ORDER BY d.id DESC LIMIT ?";
  return InRead(
      db_.pool(), "list dead letters", [&](Session& session) -> Result<std::vector<DeadLetter>> {
        std::vector<DeadLetter> letters;
        uint64_t before = filter.before_id;
        // If unreadable letters were skipped, reads more. Otherwise the caller would take
        // a page with fewer letters than `limit` for the last page.
        for (bool more = true; more && letters.size() < filter.limit;) {
          const size_t wanted = filter.limit - letters.size();
          Params values{before};
          values.insert(values.end(), all.within.params().begin(), all.within.params().end());
          values.emplace_back(static_cast<uint64_t>(wanted));
          CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, values));
          size_t read = 0;
          while (rows.Next()) {
            ++read;
            before = rows.Unsigned(1);
            if (auto letter = ReadLetter(session, rows)) {
              letters.push_back(std::move(*letter));
            }
          }
          more = read == wanted;
        }
        return letters;
      });
}

Result<DeadLetterJobPage> MysqlRunStore::ListDeadLetterJobs(const DeadLetterJobFilter& filter) {
  return InList(
      db_.pool(), "jobs with dead letters", [&](Session& session) -> Result<DeadLetterJobPage> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows, session.Query(kSelectLetterJobs,
                                     {static_cast<uint64_t>(kDeadLetterJobsMax), filter.before_id,
                                      static_cast<uint64_t>(filter.limit + 1)}));
        DeadLetterJobPage page;
        size_t read = 0;
        uint64_t last = 0;
        while (rows.Next()) {
          if (read == filter.limit) {
            page.next = last;
            break;
          }
          ++read;
          last = rows.Unsigned(1);
          const bool deleted = rows.Int(4) != 0;
          if (!deleted) page.jobs.push_back({JobId(rows.Text(2)), rows.Text(3), last});
        }
        return page;
      });
}

Result<DeadLetter> MysqlRunStore::GetDeadLetter(uint64_t id) {
  return InRead(db_.pool(), "get dead letter", [&](Session& session) -> Result<DeadLetter> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(kSelectLetters + " WHERE d.id = ?", {id}));
    if (!rows.Next()) return NoLetter(id);
    auto letter = ReadLetter(session, rows);
    if (!letter) return {ErrorCode::kCorrupt, fmt::format("dead letter {}: unknown state", id)};
    return std::move(*letter);
  });
}

Status MysqlRunStore::DiscardDeadLetter(uint64_t id) {
  return InTransaction(
      db_.pool(), {.operation = "discard dead letter"}, [&](Session& session) -> Status {
        CARILLON_ASSIGN_OR_RETURN(const int64_t gone,
                                  session.Execute("DELETE FROM dead_letters WHERE id = ?", {id}));
        return gone == 0 ? Status(NoLetter(id)) : Status();
      });
}

Result<BoundedCount> MysqlRunStore::CountGaps(const GapFilter& filter) {
  CountedRows rows{.from = "run_gaps g", .order = "g.id DESC", .wanted = OtherwiseOfGaps(filter)};
  rows.within = GapsOfJob(filter);
  rows.within.Add(GapsEndingSince(filter));
  if (filter.since && !filter.job_id) {  // reads only gaps that ended at `since` or later
    rows.from += " FORCE INDEX (by_end)";
    rows.order = "g.to_us DESC";
  }
  return CountIn(db_.pool(), rows);
}

Result<BoundedCount> MysqlRunStore::CountDeadLetters(const DeadLetterFilter& filter) {
  if (filter.job_id && !IsAscii(filter.job_id->value())) return kNoneCounted;
  return CountIn(db_.pool(), LettersOf(filter));
}

}  // namespace carillon::mysql
