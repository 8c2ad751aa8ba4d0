#include "common/adapters/mysql/events/event_runs.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/union_all.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/domain/run/dependents.h"
#include "common/wire/json/job/given_parameters.h"

namespace carillon::mysql {

namespace {

// The fires of the jobs in a time, each a range of an index. The numbers are constants: with those
// of a joined table, the server would read all runs of the jobs.
Result<Rows> FiresWithin(Session& session, const std::set<JobNo>& jobs, WallTime from,
                         WallTime to) {
  Params params;
  for (const JobNo job_no : jobs) params.emplace_back(job_no.value());
  params.resize(RoundUpUnion(jobs.size()), uint64_t{0});  // of no job
  std::string wanted = "?";
  for (size_t i = 1; i < params.size(); ++i) wanted += ", ?";
  params.emplace_back(ToUnixMicros(from));
  params.emplace_back(ToUnixMicros(to));
  return session.Query(
      "SELECT r.schedule_id, r.fire_us FROM job_runs r FORCE INDEX (by_job) WHERE r.job_no IN (" +
          wanted + ") AND r.fire_us >= ? AND r.fire_us < ? AND r.shard = 0",
      params);
}

}  // namespace

Result<FreeFires> FreeFires::Read(Session& session, const std::map<ScheduleId, JobNo>& schedules,
                                  WallTime now) {
  FreeFires found;
  found.now_ = now;
  std::set<JobNo> jobs;
  for (const auto& [schedule, job_no] : schedules) {
    found.schedules_[schedule] = {.free = now};
    jobs.insert(job_no);
  }
  if (jobs.empty()) return found;
  CARILLON_ASSIGN_OR_RETURN(Rows rows, FiresWithin(session, jobs, now, now + kBusyFiresMax));
  while (rows.Next()) {
    const ScheduleId schedule(rows.Unsigned(1));
    if (found.schedules_.contains(schedule)) found.Take(schedule, rows.Time(2));
  }
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
      "''), ? FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
      "'$[1]', h INT UNSIGNED PATH '$[2]', j BIGINT UNSIGNED PATH '$[3]', g INT UNSIGNED PATH "
      "'$[4]', p INT PATH '$[5]', u BIGINT PATH '$[6]', v BIGINT PATH '$[7]', l INT UNSIGNED PATH "
      "'$[8]', m LONGTEXT PATH '$[9]')) k",
      NumberOf(RunKind::kEvent), NumberOf(RunState::kPending));
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
