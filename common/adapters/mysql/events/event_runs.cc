#include "common/adapters/mysql/events/event_runs.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/run/dependents.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {

Result<FreeFires> FreeFires::Read(Session& session, const std::map<ScheduleId, JobNo>& schedules,
                                  WallTime now) {
  static const std::string statement =
      "SELECT r.schedule_id, r.fire_us FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (j BIGINT UNSIGNED PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]')) k "
      "STRAIGHT_JOIN job_runs r FORCE INDEX (by_job) ON r.job_no = k.j AND r.fire_us >= ? AND "
      "r.fire_us < ? AND r.schedule_id = k.s AND r.shard = 0";
  FreeFires found;
  found.now_ = now;
  if (schedules.empty()) return found;
  JsonRows wanted;
  for (const auto& [schedule, job_no] : schedules) {
    found.schedules_[schedule] = {.free = now};
    wanted.Begin().Add(job_no.value()).Add(schedule.value());
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(statement, {wanted.Take(), ToUnixMicros(now),
                                                      ToUnixMicros(now + kBusyFiresMax)}));
  while (rows.Next()) found.Take(ScheduleId(rows.Unsigned(1)), rows.Time(2));
  return found;
}

Result<WallTime> FreeFires::Next(ScheduleId schedule) const {
  const WallTime free = schedules_.at(schedule).free;
  if (free < now_ + kBusyFiresMax) return free;
  return {ErrorCode::kUnavailable,
          fmt::format("accept events: no free microsecond for schedule {}", schedule.value())};
}

void FreeFires::Take(ScheduleId schedule, WallTime fire) {
  Busy& busy = schedules_.at(schedule);
  busy.fires.insert(fire);
  while (busy.fires.erase(busy.free) > 0) busy.free += 1us;
}

EventRun EventRunOf(const RunKey& key, const JobRow& job, const RenderedParameters& given) {
  return {
      .row = {.key = key,
              .job_no = job.job_no,
              .segment = job.segment,
              .kind = RunKind::kEvent,
              .due = job.waits ? kAwaiting : key.fire,
              .priority = job.priority,
              .def_version = job.version,
              .flags = run_flag::kHasRequest | EndFlags(RunKind::kEvent, 0, job.has_dependents)},
      .parameters = GivenToText(given)};
}

Status InsertEventRuns(Session& session, std::vector<EventRun> runs, WallTime now) {
  static const std::string statement = fmt::format(
      "INSERT INTO job_runs (fire_us, schedule_id, shard, job_no, segment, open_segment, kind, "
      "state, priority, due_us, def_version, flags, parameters, planned_us) SELECT k.f, k.s, k.h, "
      "k.j, k.g, k.g, {}, {}, k.p, k.u, k.v, k.l, NULLIF(CONVERT(FROM_BASE64(k.m) USING utf8mb4), "
      "''), ? FROM JSON_TABLE({}, '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
      "'$[1]', h INT UNSIGNED PATH '$[2]', j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH "
      "'$[4]', p INT PATH '$[5]', u BIGINT PATH '$[6]', v BIGINT PATH '$[7]', l INT UNSIGNED PATH "
      "'$[8]', m LONGTEXT PATH '$[9]')) k",
      NumberOf(RunKind::kEvent), NumberOf(RunState::kPending), CARILLON_JSON);
  std::sort(runs.begin(), runs.end(),
            [](const EventRun& a, const EventRun& b) { return a.row.key < b.row.key; });
  const size_t bytes_max = session.packet_bytes_max() / 4;
  JsonRows rows;
  const auto write = [&]() -> Status {
    if (rows.empty()) return {};
    CARILLON_TRY(session.Execute(statement, {ToUnixMicros(now), rows.Take()}));
    return {};
  };
  for (const EventRun& run : runs) {
    const RunRow& row = run.row;
    rows.Begin()
        .Add(row.key)
        .Add(row.job_no.value())
        .Add(row.segment.value())
        .Add(row.priority)
        .Add(row.due)
        .Add(row.def_version)
        .Add(row.flags)
        .AddBytes(run.parameters);
    if (rows.bytes() > bytes_max) CARILLON_TRY(write());
  }
  return write();
}

}  // namespace carillon::mysql
