#include "common/adapters/mysql/job_rows/plan_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/segment_merge.h"
#include "common/adapters/mysql/job_rows/schedule_rows.h"
#include "common/adapters/mysql/run_rows/notice_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {
namespace {

Result<std::vector<DueSchedule>> FetchDue(Session& session, const std::vector<SegmentId>& segments,
                                          WallTime until, size_t share) {
  static const std::string branch =
      "SELECT " + kScheduleColumns +
      " FROM job_schedules s FORCE INDEX (due) WHERE s.segment = ? AND s.next_fire_us <= ? "
      "ORDER BY s.next_fire_us, s.schedule_id LIMIT ?";
  Params params;
  for (const SegmentId segment : segments) {
    params.push_back(static_cast<uint64_t>(segment.value()));
    params.push_back(ToUnixMicros(until));
    params.push_back(static_cast<uint64_t>(share));
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(UnionOf(branch, segments.size()), params));
  std::vector<DueSchedule> due;
  while (rows.Next()) due.push_back(ReadSchedule(session, rows).due);
  return due;
}

// One of the two keys that find the schedules of a calendar.
struct CalendarKey {
  std::string_view index;
  std::string_view column;
};

Result<std::vector<DueSchedule>> FetchOutdated(Session& session, const CalendarKey& key,
                                               const std::string& segments,
                                               const std::string& calendars, size_t limit) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          fmt::format("SELECT {} FROM JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (n INT UNSIGNED PATH '$[0]', "
                      "v BIGINT PATH '$[1]')) k STRAIGHT_JOIN job_schedules s FORCE INDEX ({}) "
                      "ON s.{} = k.n AND s.calendar_version < k.v WHERE s.resume_from_us = 0 AND "
                      "s.segment IN (SELECT q.g FROM JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (g INT UNSIGNED PATH '$[0]')) q) LIMIT ?",
                      kScheduleColumns, key.index, key.column),
          {calendars, segments, static_cast<uint64_t>(limit)}));
  std::vector<DueSchedule> found;
  while (rows.Next()) found.push_back(ReadSchedule(session, rows).due);
  return found;
}

Status Advance(Session& session, const std::vector<ScheduleAdvance>& advances) {
  static const std::string statement =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (s BIGINT UNSIGNED PATH '$[0]', v BIGINT PATH '$[1]', "
      "e BIGINT PATH '$[2]', n BIGINT PATH '$[3]', w BIGINT PATH '$[4]', c BIGINT PATH '$[5]', "
      "m BIGINT PATH '$[6]')) k STRAIGHT_JOIN job_schedules j FORCE INDEX (PRIMARY) "
      "ON j.schedule_id = k.s "
      "SET j.next_fire_us = k.n, j.awaited_us = k.w, j.calendar_version = k.m "
      "WHERE j.version = k.v AND j.next_fire_us = k.e AND j.calendar_version = k.c";
  JsonRows rows;
  for (const ScheduleAdvance& advance : advances) {
    rows.Begin()
        .Add(advance.schedule_id.value())
        .Add(advance.version)
        .Add(advance.expected_next)
        .Add(advance.next_fire)
        .Add(advance.awaited)
        .Add(advance.calendar_version)
        .Add(advance.new_calendar_version.value_or(advance.calendar_version));
  }
  CARILLON_ASSIGN_OR_RETURN(const int64_t moved, session.Execute(statement, {rows.Take()}));
  if (moved == static_cast<int64_t>(advances.size())) return {};
  return {ErrorCode::kConflict,
          fmt::format("plan: {} of {} schedules moved since they were read",
                      static_cast<int64_t>(advances.size()) - moved, advances.size())};
}

Status InsertRuns(Session& session, const std::vector<PlannedRun>& runs, WallTime now) {
  static const std::string statement =
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, flags, shard_total, planned_us) "
      "SELECT k.f, k.s, k.h, k.j, k.g, k.g, k.d, 1, k.p, k.u, k.v, k.l, k.n, ? FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]', "
      "j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH '$[4]', d INT PATH '$[5]', "
      "p INT PATH '$[6]', u BIGINT PATH '$[7]', v BIGINT PATH '$[8]', l INT UNSIGNED PATH '$[9]', "
      "n INT UNSIGNED PATH '$[10]')) k";
  std::vector<const PlannedRun*> sorted;
  sorted.reserve(runs.size());
  for (const PlannedRun& run : runs) sorted.push_back(&run);
  std::sort(sorted.begin(), sorted.end(),
            [](const PlannedRun* a, const PlannedRun* b) { return a->key < b->key; });
  JsonRows rows;
  for (const PlannedRun* run : sorted) {
    rows.Begin()
        .Add(run->key)
        .Add(run->job_no.value())
        .Add(run->segment.value())
        .Add(NumberOf(run->kind))
        .Add(run->priority)
        .Add(run->due)
        .Add(run->def_version)
        .Add(run->flags)
        .Add(run->shard_total);
  }
  CARILLON_TRY(session.Execute(statement, {ToUnixMicros(now), rows.Take()}));
  return {};
}

}  // namespace

Result<std::vector<DueSchedule>> ReadDue(Session& session, const std::vector<SegmentId>& segments,
                                         WallTime until, size_t limit) {
  const WallTime end = std::min(until, kNever - 1us);  // kNever: the schedule has no further fire
  return MergeSegments<DueSchedule>(
      segments.size(), limit, [&](size_t share) { return FetchDue(session, segments, end, share); },
      [](const DueSchedule& due) { return due.segment; },
      [](const DueSchedule& due) { return std::make_pair(due.next_fire, due.schedule_id); });
}

Result<std::vector<DueSchedule>> ReadOutdated(Session& session,
                                              const std::vector<SegmentId>& segments,
                                              const std::vector<CalendarAt>& calendars,
                                              size_t limit) {
  JsonRows mine;
  for (const SegmentId segment : segments) mine.Begin().Add(segment.value());
  JsonRows newest;
  for (const CalendarAt& one : calendars) newest.Begin().Add(one.number.value()).Add(one.version);
  const std::string mine_json = mine.Take();
  const std::string newest_json = newest.Take();
  std::map<ScheduleId, DueSchedule> found;
  for (const CalendarKey& key :
       {CalendarKey{"by_calendar", "calendar_no"}, CalendarKey{"by_blackout", "blackout_no"}}) {
    CARILLON_ASSIGN_OR_RETURN(auto some,
                              FetchOutdated(session, key, mine_json, newest_json, limit));
    for (DueSchedule& one : some) found.emplace(one.schedule_id, std::move(one));
  }
  std::vector<DueSchedule> outdated;
  for (auto& [id, one] : found) {
    if (outdated.size() < limit) outdated.push_back(std::move(one));
  }
  return outdated;
}

Result<std::vector<ScheduleAdvance>> MergeAdvances(const std::vector<ScheduleAdvance>& advances) {
  std::map<ScheduleId, ScheduleAdvance> merged;
  for (const ScheduleAdvance& advance : advances) {
    const auto [place, added] = merged.emplace(advance.schedule_id, advance);
    if (added) continue;
    ScheduleAdvance& earlier = place->second;
    const int64_t calendar_version =
        earlier.new_calendar_version.value_or(earlier.calendar_version);
    if (earlier.version != advance.version || earlier.next_fire != advance.expected_next ||
        calendar_version != advance.calendar_version) {
      return {ErrorCode::kConflict,
              fmt::format("plan: steps of schedule {} do not follow each other",
                          advance.schedule_id.value())};
    }
    earlier.next_fire = advance.next_fire;
    earlier.awaited = advance.awaited;
    if (advance.new_calendar_version) earlier.new_calendar_version = advance.new_calendar_version;
  }
  std::vector<ScheduleAdvance> sorted;
  sorted.reserve(merged.size());
  for (auto& [id, advance] : merged) sorted.push_back(advance);
  return sorted;
}

Status WritePlan(Session& session, const PlanBatch& batch,
                 const std::vector<ScheduleAdvance>& advances, WallTime now) {
  // Schedules come first. This is the order of locks, and a conflict is found before any insert.
  if (!advances.empty()) CARILLON_TRY(Advance(session, advances));
  if (!batch.runs.empty()) CARILLON_TRY(InsertRuns(session, batch.runs, now));
  CARILLON_TRY(InsertGaps(session, batch.gaps));
  return NoteMissed(session, batch.gaps, now);
}

}  // namespace carillon::mysql
