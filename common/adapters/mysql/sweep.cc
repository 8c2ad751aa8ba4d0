// Step 2 and recovery: what is open, and definitions by version.
#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/json_rows.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/run_rows.h"
#include "common/adapters/mysql/segment_merge.h"
#include "common/adapters/mysql/transaction.h"
#include "common/wire/job_json.h"

namespace carillon::mysql {
namespace {

using Position = std::pair<WallTime, RunKey>;

Position PositionOf(const StoredRun& run) { return {run.row.due, run.row.key}; }

std::vector<RunRow> RowsOf(std::vector<StoredRun> runs) {
  std::vector<RunRow> rows;
  rows.reserve(runs.size());
  for (StoredRun& run : runs) {
    if (run.readable) rows.push_back(std::move(run.row));
  }
  return rows;
}

std::string NumbersOf(const std::vector<SegmentId>& segments) {
  JsonRows rows;
  for (const SegmentId segment : segments) rows.Begin().Add(segment.value());
  return rows.Take();
}

// A row comparison (a, b) > (?, ?) would not use the index: its first column is bounded by itself.
constexpr std::string_view kAfter =
    " AND r.due_us >= ? AND (r.due_us > ? OR r.fire_us > ? OR (r.fire_us = ? AND "
    "(r.schedule_id > ? OR (r.schedule_id = ? AND r.shard > ?))))";

void AddAfter(Params& params, const Position& after) {
  const int64_t due = ToUnixMicros(after.first);
  const int64_t fire = ToUnixMicros(after.second.fire);
  const uint64_t schedule = after.second.schedule_id.value();
  params.insert(params.end(), {due, due, fire, fire, schedule, schedule,
                               static_cast<uint64_t>(after.second.shard)});
}

Result<std::vector<StoredRun>> FetchPending(Session& session, Incarnations& incarnations,
                                            const std::vector<SegmentId>& segments, WallTime until,
                                            const std::optional<Position>& after, size_t share) {
  const std::string branch =
      "SELECT " + kRunColumns +
      " FROM job_runs r FORCE INDEX (open_runs) WHERE r.open_segment = ? AND r.due_us <= ? "
      "AND r.state = 'PENDING'" +
      (after ? std::string(kAfter) : std::string()) +
      " ORDER BY r.due_us, r.fire_us, r.schedule_id, r.shard LIMIT ?";
  Params params;
  for (const SegmentId segment : segments) {
    params.push_back(static_cast<uint64_t>(segment.value()));
    params.push_back(ToUnixMicros(until));
    if (after) AddAfter(params, *after);
    params.push_back(static_cast<uint64_t>(share));
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()), params));
  return ReadRuns(session, std::move(rows), incarnations);
}

std::string NumberList(uint32_t count) {
  std::string list;
  for (uint32_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + std::to_string(i);
  return list;
}

Result<WallTime> LeastOf(Session& session, const std::string& statement) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement));
  WallTime least = kNever;
  while (rows.Next()) {
    if (!rows.IsNull(1)) least = std::min(least, rows.Time(1));
  }
  return least;
}

Result<OverdueReport> ReadOverdueOn(Session& session, uint32_t segment_count, WallTime now) {
  OverdueReport report;
  std::string oldest;
  for (uint32_t i = 0; i < segment_count; ++i) {
    oldest += fmt::format(
        "{}(SELECT r.due_us FROM job_runs r FORCE INDEX (open_runs) WHERE r.open_segment = {} "
        "AND r.state = 'PENDING' ORDER BY r.due_us LIMIT 1)",
        i == 0 ? "" : " UNION ALL ", i);
  }
  CARILLON_ASSIGN_OR_RETURN(report.oldest_pending_due, LeastOf(session, oldest));
  CARILLON_ASSIGN_OR_RETURN(
      report.oldest_unplanned_fire,
      LeastOf(session, "SELECT MIN(next_fire_us) FROM job_schedules GROUP BY segment"));
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(fmt::format("SELECT COUNT(*) FROM (SELECT 1 FROM job_runs r FORCE INDEX "
                                "(open_runs) WHERE r.open_segment IN ({}) AND r.due_us <= ? "
                                "AND r.state = 'PENDING' LIMIT {}) x",
                                NumberList(segment_count), kCountedMax),
                    {ToUnixMicros(now)}));
  rows.Next();
  report.pending_due = rows.Int(1);
  return report;
}

// The rest of a statement that pages over runs `r` by key.
const std::string kAfterRun =
    "r.fire_us >= ? AND (r.fire_us > ? OR r.schedule_id > ? OR (r.schedule_id = ? AND r.shard > ?))"
    " ORDER BY r.fire_us, r.schedule_id, r.shard LIMIT ?";

Result<RunningPage> ReadPage(Session& session, const std::string& statement,
                             const std::vector<SegmentId>& segments, std::optional<RunKey> after,
                             size_t limit, Incarnations& incarnations) {
  const RunKey from = after.value_or(RunKey{.fire = FromUnixMicros(-1)});
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(statement,
                    {NumbersOf(segments), ToUnixMicros(from.fire), ToUnixMicros(from.fire),
                     from.schedule_id.value(), from.schedule_id.value(),
                     static_cast<uint64_t>(from.shard), static_cast<uint64_t>(limit + 1)}));
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> runs,
                            ReadRuns(session, std::move(rows), incarnations));
  RunningPage page;
  if (runs.size() > limit) {
    runs.resize(limit);
    page.next = runs.empty() ? after : runs.back().row.key;
  }
  page.runs = RowsOf(std::move(runs));
  return page;
}

}  // namespace

Result<PendingPage> MysqlStore::ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                            std::optional<Position> after, size_t limit) {
  if (segments.empty() || limit == 0) return PendingPage{};
  const WallTime end = std::min(until, kNever - 1us);  // kNever: held back while its job is paused
  return InRead(*pool_, "scan pending", [&](Session& session) -> Result<PendingPage> {
    // One more than asked for tells whether there is a next page.
    CARILLON_ASSIGN_OR_RETURN(
        std::vector<StoredRun> runs,
        MergeSegments<StoredRun>(
            segments.size(), limit + 1,
            [&](size_t share) {
              return FetchPending(session, incarnations_, segments, end, after, share);
            },
            [](const StoredRun& run) { return run.row.segment; }, PositionOf));
    PendingPage page;
    if (runs.size() > limit) {
      runs.resize(limit);
      page.next = PositionOf(runs.back());
    }
    page.runs = RowsOf(std::move(runs));
    return page;
  });
}

Result<RunningPage> MysqlStore::ScanRunning(const std::vector<SegmentId>& segments,
                                            std::optional<RunKey> after, size_t limit) {
  static const std::string statement =
      "SELECT " + kRunColumns +
      " FROM JSON_TABLE(?, '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_runs r "
      "FORCE INDEX (open_runs) ON r.open_segment = k.n WHERE r.state = 'RUNNING' AND " +
      kAfterRun;
  return InRead(*pool_, "scan running", [&](Session& session) {
    return ReadPage(session, statement, segments, after, limit, incarnations_);
  });
}

Result<RunningPage> MysqlStore::ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                   std::optional<RunKey> after, size_t limit) {
  static const std::string statement =
      "SELECT " + kRunColumns +
      " FROM JSON_TABLE(?, '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
      "run_cancels c FORCE INDEX (PRIMARY) ON c.segment = k.n STRAIGHT_JOIN job_runs r "
      "FORCE INDEX (PRIMARY) ON r.fire_us = c.fire_us AND r.schedule_id = c.schedule_id AND "
      "r.shard = c.shard WHERE r.state IN ('RUNNING', 'HELD') AND r.cancel_requested = 1 AND " +
      kAfterRun;
  return InRead(*pool_, "scan cancels", [&](Session& session) {
    return ReadPage(session, statement, segments, after, limit, incarnations_);
  });
}

Result<std::vector<JobVersionRecord>> ReadDefinitions(Session& session,
                                                      const std::vector<JobVersionKey>& keys) {
  static const std::string statement =
      "SELECT v.job_no, v.version, j.job_id, v.definition FROM JSON_TABLE(?, '$[*]' COLUMNS ("
      "n BIGINT UNSIGNED PATH '$[0]', v BIGINT PATH '$[1]')) k STRAIGHT_JOIN job_versions v "
      "FORCE INDEX (PRIMARY) ON v.job_no = k.n AND v.version = k.v STRAIGHT_JOIN jobs j "
      "FORCE INDEX (PRIMARY) ON j.job_no = v.job_no";
  JsonRows wanted;
  for (const JobVersionKey& key : keys) wanted.Begin().Add(key.job_no.value()).Add(key.version);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::vector<JobVersionRecord> found;
  while (rows.Next()) {
    JobVersionRecord record{.job_no = JobNo(rows.Unsigned(1)),
                            .version = rows.Int(2),
                            .job_id = JobId(rows.Text(3)),
                            .definition = {}};
    Result<JobDefinition> definition = DefinitionFromText(rows.Text(4));
    record.readable = definition.ok();
    if (definition.ok()) {
      record.definition = std::move(definition).value();
    } else {
      session.NoteUnreadable("job_versions",
                             fmt::format("{} version {}", record.job_id.value(), record.version),
                             definition.error().message);
    }
    found.push_back(std::move(record));
  }
  return found;
}

Result<std::vector<JobVersionRecord>> MysqlStore::LoadDefinitions(
    const std::vector<JobVersionKey>& keys) {
  return InRead(*pool_, "definitions",
                [&](Session& session) { return ReadDefinitions(session, keys); });
}

Result<std::string> MysqlStore::LoadRunParameters(const RunKey& key) {
  return InRead(*pool_, "parameters", [&](Session& session) -> Result<std::string> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query("SELECT parameters FROM job_runs WHERE fire_us = ? AND "
                                            "schedule_id = ? AND shard = ?",
                                            {ToUnixMicros(key.fire), key.schedule_id.value(),
                                             static_cast<uint64_t>(key.shard)}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
    return rows.Text(1);
  });
}

Result<OverdueReport> MysqlStore::ReadOverdue(WallTime now) {
  return InRead(*pool_, "overdue",
                [&](Session& session) { return ReadOverdueOn(session, segment_count_, now); });
}

}  // namespace carillon::mysql
