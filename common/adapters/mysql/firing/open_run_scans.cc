#include "common/adapters/mysql/firing/open_run_scans.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/dependents.h"
#include "common/domain/workflow/node_key.h"

namespace carillon::mysql {
namespace {

Position PositionOf(const StoredRun& run) { return {run.row.due, run.row.key}; }

std::vector<RunRow> RowsOf(std::vector<StoredRun> runs) {
  std::vector<RunRow> rows;
  rows.reserve(runs.size());
  for (StoredRun& run : runs) {
    if (run.readable) rows.push_back(std::move(run.row));
  }
  return rows;
}

// Bounds the first column on its own, since a row comparison (a, b) > (?, ?) uses no index.
constexpr std::string_view kAfter =
    " AND r.due_us >= ? AND (r.due_us > ? OR r.fire_us > ? OR (r.fire_us = ? AND "
    "(r.schedule_id > ? OR (r.schedule_id = ? AND r.shard > ?))))";

constexpr std::string_view kByPlace =
    " ORDER BY r.due_us, r.fire_us, r.schedule_id, r.shard LIMIT ?";

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

// Reads the job's pending runs whose fires are in the window. The range of fires is a range of the
// index and limits the partitions that are read. Besides open runs, the range contains only the
// few that have ended since `window.from`.
Result<std::vector<StoredRun>> FetchPendingOfJob(Session& session, Incarnations& incarnations,
                                                 const JobWindow& window,
                                                 const std::optional<RunKey>& after, size_t count) {
  static const std::string statement =
      "SELECT " + kRunColumns +
      " FROM job_runs r FORCE INDEX (by_job) WHERE r.job_no = ? AND r.fire_us >= ? AND r.fire_us "
      "<= ? AND (r.fire_us > ? OR r.schedule_id > ? OR (r.schedule_id = ? AND r.shard > ?)) AND "
      "r.state = 'PENDING' AND r.due_us < ? ORDER BY r.fire_us, r.schedule_id, r.shard LIMIT ?";
  // Without `after`, starts before every row of the window.
  const RunKey before{.fire = window.from - 1us};
  const RunKey& from = after && after->fire >= window.from ? *after : before;
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(statement,
                    {window.job_no.value(), ToUnixMicros(std::max(window.from, from.fire)),
                     ToUnixMicros(window.to), ToUnixMicros(from.fire), from.schedule_id.value(),
                     from.schedule_id.value(), static_cast<uint64_t>(from.shard),
                     ToUnixMicros(kTimesEnd), static_cast<uint64_t>(count)}));
  return ReadRuns(session, std::move(rows), incarnations);
}

std::string NumberList(uint32_t count) {
  std::string list;
  for (uint32_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + std::to_string(i);
  return list;
}

// Returns the earliest time over all segments. `first` selects the time of a segment's first row in
// the order of an index, so only one row per segment is read.
Result<WallTime> LeastOf(Session& session, uint32_t segment_count, const std::string& first) {
  Params segments;
  for (uint32_t i = 0; i < segment_count; ++i) segments.emplace_back(uint64_t{i});
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(first, segment_count), segments));
  WallTime least = kNever;
  while (rows.Next()) least = std::min(least, rows.Time(1));
  return least;
}

// Each job once, with its earliest fire. Reads only rows that are late, and at most
// kUnplannedJobsMax of each segment.
Result<std::vector<UnplannedJob>> ReadUnplannedJobs(Session& session, uint32_t segment_count,
                                                    WallTime due_before) {
  const std::string branch = fmt::format(
      "SELECT s.next_fire_us, j.job_id, j.name FROM job_schedules s FORCE INDEX (due) "
      "STRAIGHT_JOIN "
      "jobs j ON j.job_no = s.job_no WHERE s.segment = ? AND s.next_fire_us < {} ORDER BY "
      "s.next_fire_us LIMIT {}",
      ToUnixMicros(due_before), kUnplannedJobsMax);
  Params segments;
  for (uint32_t i = 0; i < segment_count; ++i) segments.emplace_back(uint64_t{i});
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segment_count), segments));
  std::map<JobId, UnplannedJob> by_id;
  while (rows.Next()) {
    const UnplannedJob one{
        .job_id = JobId(rows.Text(2)), .name = rows.Text(3), .fire = rows.Time(1)};
    const auto [known, added] = by_id.try_emplace(one.job_id, one);
    if (!added) known->second.fire = std::min(known->second.fire, one.fire);
  }
  return FirstUnplanned(by_id);
}

// `runs` are the first runs after the cursor, at most `limit` + 1. If there are `limit` + 1, there
// is a next page.
RunningPage PageOf(std::vector<StoredRun> runs, const std::optional<RunCursor>& after,
                   size_t limit) {
  RunningPage page;
  if (runs.size() > limit) {
    runs.resize(limit);
    page.next = after;
    if (!runs.empty()) {
      const RunRow& last = runs.back().row;
      page.next = RunCursor{last.segment, last.due, last.key};
    }
  }
  page.runs = RowsOf(std::move(runs));
  return page;
}

// Reads segment by segment, each in the order of the index.
Result<std::vector<StoredRun>> FetchStarted(Session& session, std::string_view which,
                                            std::vector<SegmentId> segments,
                                            const std::optional<RunCursor>& after, size_t count,
                                            Incarnations& incarnations) {
  // A run that started was due, so the runs that are queued or held back are not read. Runs of
  // workflows have no executor and no lease.
  const std::string statement = fmt::format(
      "SELECT {} FROM job_runs r FORCE INDEX (open_runs) WHERE r.open_segment = ? AND r.due_us < "
      "{} AND {} AND r.incarnation_no > 0",
      kRunColumns, ToUnixMicros(kTimesEnd), which);
  std::sort(segments.begin(), segments.end());
  std::vector<StoredRun> runs;
  for (const SegmentId segment : segments) {
    if (after && segment < after->segment) continue;
    const bool inside = after && segment == after->segment;
    Params params = {static_cast<uint64_t>(segment.value())};
    if (inside) AddAfter(params, {after->due, after->key});
    params.push_back(static_cast<uint64_t>(count - runs.size()));
    const std::string skip = inside ? std::string(kAfter) : std::string();
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query(statement + skip + std::string(kByPlace), params));
    CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> some,
                              ReadRuns(session, std::move(rows), incarnations));
    std::move(some.begin(), some.end(), std::back_inserter(runs));
    if (runs.size() >= count) break;
  }
  return runs;
}

// Reads all segments in one statement: there are few requests, and the scan is frequent.
Result<std::vector<StoredRun>> FetchCancelRequests(Session& session,
                                                   const std::vector<SegmentId>& segments,
                                                   const std::optional<RunCursor>& after,
                                                   size_t count, Incarnations& incarnations,
                                                   std::set<RunKey>* given_up) {
  static const std::string statement =
      "SELECT " + kRunColumns +
      ", c.give_up_attempt = r.attempt FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
      "run_cancels c FORCE INDEX (PRIMARY) ON c.segment = k.n STRAIGHT_JOIN job_runs r "
      "FORCE INDEX (PRIMARY) ON r.fire_us = c.fire_us AND r.schedule_id = c.schedule_id AND "
      "r.shard = c.shard WHERE r.state IN ('RUNNING', 'HELD') AND r.cancel_requested = 1 AND "
      "r.incarnation_no > 0 AND "
      "(c.segment > ? OR (c.segment = ?" +
      std::string(kAfter) +
      ")) ORDER BY c.segment, r.due_us, r.fire_us, r.schedule_id, r.shard LIMIT ?";
  const WallTime before_all = FromUnixMicros(-1);
  const RunCursor from = after.value_or(RunCursor{SegmentId(0), before_all, {before_all, {}, 0}});
  JsonRows wanted;
  for (const SegmentId segment : segments) wanted.Begin().Add(segment.value());
  const std::string json = wanted.Take();
  const auto segment = static_cast<uint64_t>(from.segment.value());
  Params params = {json, segment, segment};
  AddAfter(params, {from.due, from.key});
  params.push_back(static_cast<uint64_t>(count));
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, params));
  std::vector<StoredRun> runs;
  while (rows.Next()) {
    runs.push_back(ReadRun(rows));
    const bool readable = NoteIfUnreadable(session, runs.back());
    if (readable && rows.Int(kRunColumnCount + 1) != 0) given_up->insert(runs.back().row.key);
  }
  CARILLON_TRY(FillExecutors(session, runs, incarnations));
  return runs;
}

}  // namespace

Result<PendingPage> ReadPending(Session& session, Incarnations& incarnations,
                                const std::vector<SegmentId>& segments, WallTime until,
                                const std::optional<Position>& after, size_t limit) {
  const WallTime end = std::min(until, kTimesEnd - 1us);  // later ones are no times (run.h)
  // Reads one row more than asked for, to know whether there is a next page.
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> runs,
                            MergeSegments<StoredRun>(
                                segments.size(), limit + 1,
                                [&](size_t share) {
                                  return FetchPending(session, incarnations, segments, end, after,
                                                      share);
                                },
                                [](const StoredRun& run) { return run.row.segment; }, PositionOf));
  PendingPage page;
  if (runs.size() > limit) {
    runs.resize(limit);
    page.next = PositionOf(runs.back());
  }
  page.runs = RowsOf(std::move(runs));
  return page;
}

Result<JobPendingPage> ReadPendingOfJob(Session& session, Incarnations& incarnations,
                                        const JobWindow& window, const std::optional<RunKey>& after,
                                        size_t limit) {
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> runs,
                            FetchPendingOfJob(session, incarnations, window, after, limit + 1));
  JobPendingPage page;
  if (runs.size() > limit) {
    runs.resize(limit);
    page.next = runs.back().row.key;
  }
  page.runs = RowsOf(std::move(runs));
  return page;
}

Result<RunningPage> ReadRunning(Session& session, Incarnations& incarnations,
                                const std::vector<SegmentId>& segments,
                                const std::optional<RunCursor>& after, size_t limit) {
  CARILLON_ASSIGN_OR_RETURN(
      std::vector<StoredRun> runs,
      FetchStarted(session, "r.state = 'RUNNING'", segments, after, limit + 1, incarnations));
  return PageOf(std::move(runs), after, limit);
}

Result<RunningPage> ReadPresumed(Session& session, Incarnations& incarnations,
                                 const std::vector<SegmentId>& segments,
                                 const std::optional<RunCursor>& after, size_t limit) {
  static const std::string which =
      fmt::format("r.state = 'HELD' AND (r.flags & {}) <> 0", run_flag::kPresume);
  CARILLON_ASSIGN_OR_RETURN(std::vector<StoredRun> runs,
                            FetchStarted(session, which, segments, after, limit + 1, incarnations));
  return PageOf(std::move(runs), after, limit);
}

Result<RunningPage> ReadCancelRequests(Session& session, Incarnations& incarnations,
                                       const std::vector<SegmentId>& segments,
                                       const std::optional<RunCursor>& after, size_t limit) {
  std::set<RunKey> given_up;
  CARILLON_ASSIGN_OR_RETURN(
      std::vector<StoredRun> runs,
      FetchCancelRequests(session, segments, after, limit + 1, incarnations, &given_up));
  RunningPage page = PageOf(std::move(runs), after, limit);
  for (const RunRow& run : page.runs) {
    if (given_up.contains(run.key)) page.given_up.insert(run.key);
  }
  return page;
}

Result<RunRequest> ReadRunRequest(Session& session, const RunKey& key) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT parameters, trace_id, started_by, IF(flags & 32768, rules, "
                               "NULL) FROM job_runs WHERE fire_us = ? AND schedule_id = ? AND "
                               "shard = ?",
                               {ToUnixMicros(key.fire), key.schedule_id.value(),
                                static_cast<uint64_t>(key.shard)}));
  if (!rows.Next()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  const std::optional<NodeOrigin> node = NodeOriginFromText(rows.Text(3));
  return RunRequest{.parameters_json = rows.Text(1),
                    .trace_id = rows.Text(2),
                    .trigger = TriggerFromText(rows.Text(3)),
                    .rules = rows.Text(4),
                    .node = node ? node->node : std::string()};
}

Result<std::map<RunKey, std::string>> ReadRunRules(Session& session,
                                                   const std::vector<RunKey>& keys) {
  static const std::string statement = fmt::format(
      "SELECT r.fire_us, r.schedule_id, r.rules FROM {} WHERE (r.flags & {}) <> 0 AND r.rules IS "
      "NOT NULL",
      kKeysJoinRuns, run_flag::kRules);
  std::map<RunKey, std::string> rules;
  std::set<RunKey> owns;
  for (const RunKey& key : keys) owns.insert(OwnRunOf(key));
  if (owns.empty()) return rules;
  JsonRows wanted;
  for (const RunKey& own : owns) wanted.Begin().Add(own);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::map<RunKey, std::string> of_own;
  while (rows.Next()) {
    of_own[{.fire = rows.Time(1), .schedule_id = ScheduleId(rows.Unsigned(2))}] = rows.Text(3);
  }
  for (const RunKey& key : keys) {
    const auto found = of_own.find(OwnRunOf(key));
    if (found != of_own.end()) rules[key] = found->second;
  }
  return rules;
}

Result<OverdueReport> ReadOverdueRows(Session& session, uint32_t segment_count, WallTime now) {
  OverdueReport report;
  CARILLON_ASSIGN_OR_RETURN(
      report.oldest_pending_due,
      LeastOf(session, segment_count,
              // The part of a broadcast may wait for its host for days.
              fmt::format("SELECT r.due_us FROM job_runs r FORCE INDEX (open_runs) WHERE "
                          "r.open_segment = ? AND r.due_us < {} AND r.state = 'PENDING' AND "
                          "(r.shard = 0 OR r.pinned_executor = '') ORDER BY r.due_us LIMIT 1",
                          ToUnixMicros(kTimesEnd))));
  CARILLON_ASSIGN_OR_RETURN(
      report.oldest_unplanned_fire,
      LeastOf(session, segment_count,
              "SELECT s.next_fire_us FROM job_schedules s FORCE INDEX (due) WHERE s.segment = ? "
              "ORDER BY s.next_fire_us LIMIT 1"));
  const WallTime late = now - kUnplannedShownAfter;
  if (report.oldest_unplanned_fire < late) {
    CARILLON_ASSIGN_OR_RETURN(report.unplanned_jobs,
                              ReadUnplannedJobs(session, segment_count, late));
  }
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

}  // namespace carillon::mysql
