#include "common/adapters/mysql/job_rows/schedule_rows.h"

#include <algorithm>

#include "common/adapters/mysql/client/json_rows.h"

namespace carillon::mysql {
namespace {

// The columns that change with the job's version, copied from k to j.
constexpr std::string_view kChangingScheduleColumns =
    "position, version, job_version, next_fire_us, resume_from_us, dst_gap, dst_repeat, "
    "misfire_policy, misfire_grace_us, catch_up_window_us, catch_up_max, priority, "
    "calendar_version, run_flags";

void AddChanging(JsonRows& json, const StoredScheduleRow& row) {
  const DueSchedule& due = row.due;
  json.Begin()
      .Add(due.schedule_id.value())
      .Add(row.position)
      .Add(due.version)
      .Add(due.job_version)
      .Add(due.next_fire)
      .Add(row.resume_from)
      .Add(Name(due.dst_gap))
      .Add(Name(due.dst_repeat))
      .Add(Name(due.misfire.policy))
      .Add(due.misfire.grace.count())
      .Add(due.misfire.catch_up_window.count())
      .Add(due.misfire.catch_up_max)
      .Add(due.priority)
      .Add(due.calendar_version)
      .Add(due.run_flags);
}

const std::string kChangingTable =
    "s BIGINT UNSIGNED PATH '$[0]', c1 INT UNSIGNED PATH '$[1]', c2 BIGINT PATH '$[2]', "
    "c3 BIGINT PATH '$[3]', c4 BIGINT PATH '$[4]', c5 BIGINT PATH '$[5]', "
    "c6 VARCHAR(8) PATH '$[6]', c7 VARCHAR(8) PATH '$[7]', c8 VARCHAR(8) PATH '$[8]', "
    "c9 BIGINT PATH '$[9]', c10 BIGINT PATH '$[10]', c11 BIGINT PATH '$[11]', "
    "c12 INT PATH '$[12]', c13 BIGINT PATH '$[13]', c14 INT UNSIGNED PATH '$[14]'";

// Writes the columns that only delay schedules change: an edit of `every` keeps such a schedule.
Status UpdateDelays(Session& session, const std::vector<StoredScheduleRow>& rows) {
  static const std::string statement =
      "UPDATE JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (s BIGINT UNSIGNED PATH '$[0]', e BIGINT PATH '$[1]', "
      "w BIGINT PATH '$[2]')) k STRAIGHT_JOIN job_schedules j FORCE INDEX (PRIMARY) ON "
      "j.schedule_id = k.s SET j.every_us = k.e, j.awaited_us = k.w";
  JsonRows json;
  for (const StoredScheduleRow& row : rows) {
    const DueSchedule& due = row.due;
    if (due.spec.kind != ScheduleKind::kDelay) continue;
    json.Begin().Add(due.schedule_id.value()).Add(due.spec.every.count()).Add(row.awaited);
  }
  if (json.empty()) return {};
  CARILLON_TRY(session.Execute(statement, {json.Take()}));
  return {};
}

Status RaiseEventTriggers(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t raised,
      session.Execute("UPDATE id_blocks SET next_id = next_id + 1 WHERE name = ?",
                      {kEventTriggerSequence}));
  if (raised == 1) return {};
  return {ErrorCode::kBrokenStore, "schedules: id_blocks has no row event_trigger"};
}

Status NoteWritten(Session& session, const std::vector<StoredScheduleRow>& rows) {
  const bool triggers = std::any_of(rows.begin(), rows.end(), [](const StoredScheduleRow& row) {
    return row.due.spec.kind == ScheduleKind::kEvent;
  });
  return triggers ? RaiseEventTriggers(session) : Status();
}

// Parses the name in a column. False if this version does not know the name.
template <typename Enum>
bool Parse(const Rows& rows, uint32_t column, Enum* value) {
  const Result<Enum> parsed = ParseName<Enum>(rows.Text(column));
  if (parsed.ok()) *value = *parsed;
  return parsed.ok();
}

}  // namespace

const std::string kScheduleColumns =
    "s.schedule_id, s.job_no, s.segment, s.version, s.job_version, s.next_fire_us, s.kind, "
    "s.cron_expression, s.time_zone, s.every_us, s.start_us, s.at_us, s.dst_gap, s.dst_repeat, "
    "s.misfire_policy, s.misfire_grace_us, s.catch_up_window_us, s.catch_up_max, s.priority, "
    "s.resume_from_us, s.position, s.until_us, s.jitter_us, s.spread, s.awaited_us, s.calendar_no, "
    "s.blackout_no, s.calendar_version, s.run_flags, "
    "COALESCE((SELECT oj.overlap_policy IN ('queue_one', 'queue_all') FROM jobs oj FORCE INDEX "
    "(PRIMARY) WHERE oj.job_no = s.job_no), 0)";

StoredScheduleRow ReadSchedule(const Session& session, const Rows& rows) {
  StoredScheduleRow row;
  DueSchedule& due = row.due;
  due.schedule_id = ScheduleId(rows.Unsigned(1));
  due.job_no = JobNo(rows.Unsigned(2));
  due.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3)));
  due.version = rows.Int(4);
  due.job_version = rows.Int(5);
  due.next_fire = rows.Time(6);
  const bool kind = Parse(rows, 7, &due.spec.kind);
  due.spec.cron_expression = rows.Text(8);
  due.spec.time_zone = rows.Text(9);
  due.spec.every = Duration(rows.Int(10));
  due.spec.start = rows.Time(11);
  due.spec.at = rows.Time(12);
  const bool rules = Parse(rows, 13, &due.dst_gap) && Parse(rows, 14, &due.dst_repeat) &&
                     Parse(rows, 15, &due.misfire.policy);
  due.readable = kind && rules;
  if (!due.readable) {
    session.NoteUnreadable("job_schedules", std::to_string(due.schedule_id.value()),
                           kind ? "unknown rule" : "unknown kind");
  }
  due.misfire.grace = std::max(Duration(rows.Int(16)), kMisfireFloor);
  due.misfire.catch_up_window = Duration(rows.Int(17));
  due.misfire.catch_up_max = rows.Int(18);
  due.priority = static_cast<int>(rows.Int(19));
  row.resume_from = rows.Time(20);
  row.position = static_cast<uint32_t>(rows.Unsigned(21));
  due.spec.end = rows.Time(22);
  due.spec.jitter = Duration(rows.Int(23));
  due.spec.spread = rows.Unsigned(24);
  row.awaited = rows.Time(25);
  due.calendars = {CalendarNo(rows.Unsigned(26)), CalendarNo(rows.Unsigned(27))};
  due.calendar_version = rows.Int(28);
  due.run_flags = static_cast<uint32_t>(rows.Unsigned(29));
  due.misfire.queues = rows.Int(30) != 0;
  return row;
}

namespace {

Result<std::vector<StoredScheduleRow>> SchedulesOf(Session& session, JobNo job_no,
                                                   std::string_view lock) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT " + kScheduleColumns +
                                   " FROM job_schedules s FORCE INDEX (by_job) WHERE s.job_no = ? "
                                   "ORDER BY s.schedule_id " +
                                   std::string(lock),
                               {job_no.value()}));
  std::vector<StoredScheduleRow> all;
  while (rows.Next()) all.push_back(ReadSchedule(session, rows));
  return all;
}

}  // namespace

Result<std::vector<StoredScheduleRow>> LockSchedules(Session& session, JobNo job_no) {
  return SchedulesOf(session, job_no, "FOR UPDATE");
}

Result<std::vector<StoredScheduleRow>> ShareSchedules(Session& session, JobNo job_no) {
  return SchedulesOf(session, job_no, "LOCK IN SHARE MODE");
}

Status InsertSchedules(Session& session, const std::vector<StoredScheduleRow>& rows) {
  static const std::string statement =
      "INSERT INTO job_schedules (schedule_id, " + std::string(kChangingScheduleColumns) +
      ", job_no, segment, kind, cron_expression, time_zone, every_us, start_us, at_us, until_us, "
      "jitter_us, spread, calendar_no, blackout_no) "
      "SELECT k.s, k.c1, k.c2, k.c3, k.c4, k.c5, k.c6, k.c7, k.c8, k.c9, k.c10, k.c11, k.c12, "
      "k.c13, k.c14, k.j, k.g, k.kd, k.x, k.z, k.e, k.b, k.a, k.u, k.q, k.sp, k.cn, k.bn "
      "FROM JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (" +
      kChangingTable +
      ", j BIGINT UNSIGNED PATH '$[15]', g INT UNSIGNED PATH '$[16]', kd VARCHAR(8) PATH '$[17]', "
      "x TEXT PATH '$[18]', z VARCHAR(400) PATH '$[19]', e BIGINT PATH '$[20]', "
      "b BIGINT PATH '$[21]', a BIGINT PATH '$[22]', u BIGINT PATH '$[23]', "
      "q BIGINT PATH '$[24]', sp BIGINT UNSIGNED PATH '$[25]', cn INT UNSIGNED PATH '$[26]', "
      "bn INT UNSIGNED PATH '$[27]')) k";
  if (rows.empty()) return {};
  JsonRows json;
  for (const StoredScheduleRow& row : rows) {
    AddChanging(json, row);
    const ScheduleSpec& spec = row.due.spec;
    json.Add(row.due.job_no.value())
        .Add(row.due.segment.value())
        .Add(Name(spec.kind))
        .Add(spec.cron_expression)
        .Add(spec.time_zone)
        .Add(spec.every.count())
        .Add(spec.start)
        .Add(spec.at)
        .Add(spec.end)
        .Add(spec.jitter.count())
        .Add(spec.spread)
        .Add(row.due.calendars.calendar.value())
        .Add(row.due.calendars.blackout.value());
  }
  CARILLON_TRY(session.Execute(statement, {json.Take()}));
  return NoteWritten(session, rows);
}

Status UpdateSchedules(Session& session, const std::vector<StoredScheduleRow>& rows) {
  static const std::string statement =
      "UPDATE JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (" + kChangingTable +
      ")) k STRAIGHT_JOIN job_schedules j FORCE INDEX (PRIMARY) ON j.schedule_id = k.s "
      "SET j.position = k.c1, j.version = k.c2, j.job_version = k.c3, j.next_fire_us = k.c4, "
      "j.resume_from_us = k.c5, j.dst_gap = k.c6, j.dst_repeat = k.c7, j.misfire_policy = k.c8, "
      "j.misfire_grace_us = k.c9, j.catch_up_window_us = k.c10, j.catch_up_max = k.c11, "
      "j.priority = k.c12, j.calendar_version = k.c13, j.run_flags = k.c14";
  if (rows.empty()) return {};
  JsonRows json;
  for (const StoredScheduleRow& row : rows) AddChanging(json, row);
  CARILLON_TRY(session.Execute(statement, {json.Take()}));
  CARILLON_TRY(UpdateDelays(session, rows));
  return NoteWritten(session, rows);
}

Status DeleteSchedules(Session& session, const std::vector<ScheduleId>& ids) {
  static const std::string which =
      " JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (s BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_schedules j FORCE "
      "INDEX (PRIMARY) ON j.schedule_id = k.s";
  if (ids.empty()) return {};
  JsonRows json;
  for (const ScheduleId id : ids) json.Begin().Add(id.value());
  const std::string wanted = json.Take();
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows triggers,
        session.Query("SELECT 1 FROM" + which + " WHERE j.kind = 'event' LIMIT 1", {wanted}));
    if (triggers.Next()) CARILLON_TRY(RaiseEventTriggers(session));
  }
  CARILLON_TRY(session.Execute("DELETE j FROM" + which, {wanted}));
  return {};
}

Status InsertGaps(Session& session, const std::vector<PlannedGap>& gaps) {
  static const std::string statement =
      "INSERT INTO run_gaps (schedule_id, job_no, from_us, to_us, fires, reason) "
      "SELECT k.s, k.j, k.f, k.t, k.n, k.r FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS ("
      "s BIGINT UNSIGNED PATH '$[0]', j BIGINT UNSIGNED PATH '$[1]', f BIGINT PATH '$[2]', "
      "t BIGINT PATH '$[3]', n BIGINT PATH '$[4]', r VARCHAR(255) PATH '$[5]')) k";
  if (gaps.empty()) return {};
  JsonRows rows;
  for (const PlannedGap& gap : gaps) {
    rows.Begin()
        .Add(gap.schedule_id.value())
        .Add(gap.job_no.value())
        .Add(gap.range.from)
        .Add(gap.range.to)
        .Add(gap.range.count)
        .Add(Name(gap.range.reason));
  }
  CARILLON_TRY(session.Execute(statement, {rows.Take()}));
  return {};
}

}  // namespace carillon::mysql
