#include "common/adapters/mysql/jobs/mysql_streak_store.h"

#include <string>
#include <utility>

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/jobs/edited_job.h"
#include "common/adapters/mysql/jobs/job_edit.h"
#include "common/adapters/mysql/run_rows/notice_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {
namespace {

// Most streaks end within a few runs more than they are long. The others are those of jobs that
// skip most of their fires: of them, no more are examined.
constexpr uint64_t kFewRuns = 50;
constexpr uint64_t kManyRuns = 5'000;

Result<std::vector<FailingJob>> FetchFailing(Session& session, const std::string& segments,
                                             WallTime since, std::optional<JobNo> after,
                                             size_t limit) {
  static const std::string statement =
      "SELECT j.job_no, j.job_id, j.segment, j.version, " + FromTime("j.update_time") +
      ", j.pause_after_failures, x.letters, x.newest FROM (SELECT d.job_no, COUNT(*) AS letters, "
      "MAX(d.id) AS newest FROM dead_letters d FORCE INDEX (by_time) WHERE d.created_us >= ? GROUP "
      "BY d.job_no) x STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = x.job_no WHERE "
      "j.pause_after_failures > 0 AND j.enabled = 1 AND j.deleted = 0 AND j.job_no > ? AND "
      "j.segment IN (SELECT k.g FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (g INT UNSIGNED PATH '$[0]')) k) ORDER BY j.job_no LIMIT ?";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(statement, {ToUnixMicros(since), after ? after->value() : uint64_t{0}, segments,
                                static_cast<uint64_t>(limit)}));
  std::vector<FailingJob> failing;
  while (rows.Next()) {
    failing.push_back({.job_no = JobNo(rows.Unsigned(1)),
                       .job_id = JobId(rows.Text(2)),
                       .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3))),
                       .rule = {.version = rows.Int(4),
                                .since = rows.Time(5),
                                .pause_after_failures = rows.Int(6)},
                       .letters = rows.Int(7),
                       .newest_letter = rows.Unsigned(8)});
  }
  return failing;
}

Result<std::vector<StreakRun>> FetchNewest(Session& session, const FailingJob& job, WallTime now,
                                           uint64_t limit) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.kind + 0, r.state + 0, r.reason, r.attempt, "
      "r.def_version, r.flags FROM job_runs r FORCE INDEX (by_job) WHERE r.job_no = ? AND "
      "r.fire_us >= ? AND r.fire_us <= ? AND r.shard = 0 ORDER BY r.fire_us DESC, r.schedule_id "
      "DESC, r.shard DESC LIMIT ?";
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query(statement, {job.job_no.value(), ToUnixMicros(job.rule.since),
                                           ToUnixMicros(now), limit}));
  std::vector<StreakRun> runs;
  while (rows.Next()) {
    const auto kind = KindOf(rows.Int(3));
    const auto state = StateOf(rows.Int(4));
    if (!kind || !state) continue;
    runs.push_back({.key = {rows.Time(1), ScheduleId(rows.Unsigned(2)), 0},
                    .kind = *kind,
                    .state = *state,
                    .reason = rows.Text(5),
                    .attempt = static_cast<int>(rows.Int(6)),
                    .def_version = rows.Int(7),
                    .flags = static_cast<uint32_t>(rows.Unsigned(8))});
  }
  return runs;
}

Result<Streak> FetchStreak(Session& session, const FailingJob& job, WallTime now) {
  const uint64_t few = static_cast<uint64_t>(job.rule.pause_after_failures) + kFewRuns;
  for (const uint64_t limit : {few, kManyRuns}) {
    CARILLON_ASSIGN_OR_RETURN(const auto runs, FetchNewest(session, job, now, limit));
    Streak streak = CountStreak(runs, job.rule);
    if (streak.ended || runs.size() < limit || limit == kManyRuns) return streak;
  }
  return Streak{};
}

Status InsertAudit(Session& session, const FailingJob& job, const std::string& reason,
                   const WriteContext& context) {
  CARILLON_TRY(session.Execute(
      "INSERT INTO audit_log (at_us, actor, action, object_id, reason, trace_id, changes) VALUES "
      "(?, ?, 'job.pause', ?, ?, '', '')",
      {ToUnixMicros(context.now), context.actor, job.job_id.value(), reason}));
  return {};
}

Status InsertNotice(Session& session, const Notice& notice) {
  const auto segment = static_cast<uint64_t>(notice.segment.value());
  CARILLON_TRY(session.Execute(
      "INSERT INTO notices (fire_us, schedule_id, shard, segment, open_segment, kind, job_no, "
      "attempt, state, reason, fires, created_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON "
      "DUPLICATE KEY UPDATE notices.id = notices.id",
      {ToUnixMicros(notice.key.fire), notice.key.schedule_id.value(),
       static_cast<uint64_t>(notice.key.shard), segment, segment, Name(notice.kind),
       notice.job_no.value(), int64_t{notice.attempt}, Name(notice.state), notice.reason,
       notice.fires, ToUnixMicros(notice.created)}));
  return {};
}

}  // namespace

Result<std::vector<FailingJob>> MysqlStreakStore::ScanFailing(
    const std::vector<SegmentId>& segments, WallTime since, std::optional<JobNo> after,
    size_t limit) {
  if (segments.empty()) return std::vector<FailingJob>{};
  const std::string list = SegmentList(segments);
  return InRead(db_.pool(), "failing jobs",
                [&](Session& session) { return FetchFailing(session, list, since, after, limit); });
}

Result<Streak> MysqlStreakStore::ReadStreak(const FailingJob& job, WallTime now) {
  return InRead(db_.pool(), "failing job",
                [&](Session& session) { return FetchStreak(session, job, now); });
}

Result<bool> MysqlStreakStore::PauseFailing(const FailingJob& job, const Fence& fence,
                                            const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "pause failing job"}, [&](Session& session) -> Result<bool> {
        CARILLON_TRY(LockFence(session, fence));
        CARILLON_ASSIGN_OR_RETURN(
            EditedJob rows,
            LockEdited(session, job.job_id, nullptr, context.now, db_.caches().incarnations));
        CARILLON_TRY(MustBeReadable(rows.job));
        JobEdit edit(std::move(rows), context.now);
        if (edit.job().version != job.rule.version || !edit.job().definition.enabled) return false;
        CARILLON_ASSIGN_OR_RETURN(const Streak streak, FetchStreak(session, job, context.now));
        if (!streak.IsFull(job.rule)) return false;
        const std::string reason = StreakSentence(streak.failures);
        edit.PauseByFailures(reason);
        CARILLON_TRY(WriteEdited(session, edit.rows(), context));
        CARILLON_TRY(InsertAudit(session, job, reason, context));
        CARILLON_TRY(InsertNotice(session, NoticeOf(job, streak, context.now)));
        return true;
      });
}

}  // namespace carillon::mysql
