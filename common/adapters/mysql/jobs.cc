// Jobs as people edit them.
#include <fmt/core.h>

#include "common/adapters/mysql/job_edit.h"
#include "common/adapters/mysql/job_filter.h"
#include "common/adapters/mysql/mysql_store.h"
#include "common/adapters/mysql/transaction.h"
#include "common/wire/job_json.h"

namespace carillon::mysql {
namespace {

std::vector<StoredScheduleRow> FirstSchedules(const StoredJobRow& job, uint64_t first_id) {
  std::vector<StoredScheduleRow> rows;
  const JobDefinition& definition = job.definition;
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    StoredScheduleRow row;
    row.position = static_cast<uint32_t>(i);
    row.due = {.schedule_id = ScheduleId(first_id + i),
               .job_no = job.job_no,
               .segment = job.segment,
               .version = 1,
               .job_version = job.version,
               .next_fire = kNever,
               .spec = definition.schedules[i],
               .dst_gap = definition.dst_gap,
               .dst_repeat = definition.dst_repeat,
               .misfire = MisfireRulesOf(definition),
               .priority = definition.priority};
    const Result<Schedule> schedule =
        Schedule::Compile(row.due.spec, definition.dst_gap, definition.dst_repeat);
    const std::optional<Fire> fire =
        schedule.ok() ? schedule->Next(job.created) : std::optional<Fire>();
    row.set_place(fire ? fire->time : kNever, definition.enabled);
    rows.push_back(std::move(row));
  }
  return rows;
}

Status CheckVersion(const StoredJobRow& job, int64_t expected) {
  if (job.version == expected) return {};
  return {ErrorCode::kConflict, fmt::format("job {} is at version {}, not {}", job.job_id.value(),
                                            job.version, expected)};
}

}  // namespace

Result<StoredJob> MysqlStore::CreateJob(const JobId& id, const JobDefinition& definition,
                                        const WriteContext& context) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t job_no, kept_->ids.Next(*pool_, "job", 1));
  CARILLON_ASSIGN_OR_RETURN(const uint64_t first_schedule,
                            kept_->ids.Next(*pool_, "schedule", definition.schedules.size() + 1));
  const StoredJobRow job{.job_no = JobNo(job_no),
                         .job_id = id,
                         .segment = SegmentId(static_cast<uint32_t>(job_no % segment_count_)),
                         .version = 1,
                         .manual_schedule = ScheduleId(first_schedule),
                         .definition = definition,
                         .created = context.now,
                         .updated = context.now};
  const std::vector<StoredScheduleRow> schedules = FirstSchedules(job, first_schedule + 1);
  const Status created =
      InTransaction(*pool_, {.operation = "create job"}, [&](Session& session) -> Status {
        CARILLON_TRY(InsertJob(session, job, context.actor));
        return InsertSchedules(session, schedules);
      });
  if (!created.ok()) {
    if (created.code() != ErrorCode::kExists) return created.error();
    return {ErrorCode::kExists, fmt::format("job_id {} is taken", id.value())};
  }
  StoredJob stored{.job_no = job.job_no,
                   .job_id = id,
                   .segment = job.segment,
                   .version = job.version,
                   .definition = definition,
                   .schedules = {},
                   .pause_reason = {},
                   .created = context.now,
                   .updated = context.now};
  for (const StoredScheduleRow& row : schedules) {
    stored.schedules.push_back({row.due.schedule_id, row.due.spec});
  }
  return stored;
}

Result<StoredJob> MysqlStore::GetJob(const JobId& id) {
  return InRead(*pool_, "get job", [&](Session& session) -> Result<StoredJob> {
    CARILLON_ASSIGN_OR_RETURN(JobsRead found,
                              ReadJobs(session, "j.job_id = ? AND j.deleted = 0", {id.value()}, 1));
    if (found.left_out > 0) {
      return {ErrorCode::kCorrupt, "job " + id.value() + ": its definition cannot be read"};
    }
    if (found.jobs.empty()) return {ErrorCode::kNotFound, "no job " + id.value()};
    return std::move(found.jobs.front());
  });
}

Result<JobHead> MysqlStore::GetJobHead(const JobId& id) {
  return InRead(*pool_, "get job", [&](Session& session) -> Result<JobHead> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT j.job_no, j.segment, j.version, j.user_id, j.enabled, "
                                 "j.namespace, j.deleted FROM jobs j WHERE j.job_id = ?",
                                 {id.value()}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no job " + id.value()};
    return JobHead{.job_no = JobNo(rows.Unsigned(1)),
                   .segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(2))),
                   .version = rows.Int(3),
                   .user_id = rows.Text(4),
                   .name_space = rows.Text(6),
                   .enabled = rows.Int(5) != 0,
                   .deleted = rows.Int(7) != 0};
  });
}

// A loose scan: each namespace costs a few entries of the index, however many jobs it has.
Result<std::vector<std::string>> MysqlStore::ListNamespaces(const std::string& after,
                                                            size_t limit) {
  return InRead(
      *pool_, "list namespaces", [&](Session& session) -> Result<std::vector<std::string>> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query("SELECT namespace FROM jobs FORCE INDEX (by_namespace) WHERE "
                          "namespace > ? AND deleted = 0 GROUP BY namespace ORDER BY namespace "
                          "LIMIT ?",
                          {after, static_cast<uint64_t>(limit)}));
        std::vector<std::string> page;
        while (rows.Next()) page.push_back(rows.Text(1));
        return page;
      });
}

Result<std::vector<JobVersion>> MysqlStore::ListVersions(const JobId& id, int64_t before,
                                                         size_t limit) {
  return InRead(*pool_, "list versions", [&](Session& session) -> Result<std::vector<JobVersion>> {
    // The job's own row comes also when no version is left below `before`.
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT v.version, v.actor, v.created_us, v.definition FROM jobs j LEFT JOIN "
                      "job_versions v ON v.job_no = j.job_no AND v.version < ? WHERE j.job_id = ? "
                      "AND j.deleted = 0 ORDER BY v.version DESC LIMIT ?",
                      {before, id.value(), static_cast<uint64_t>(limit)}));
    std::vector<JobVersion> versions;
    bool known = false;
    while (rows.Next()) {
      known = true;
      if (rows.IsNull(1)) break;
      JobVersion version{.version = rows.Int(1), .actor = rows.Text(2), .created = rows.Time(3)};
      auto definition = DefinitionFromText(rows.Text(4));
      if (definition.ok()) version.definition = std::move(definition).value();
      versions.push_back(std::move(version));
    }
    if (!known) return {ErrorCode::kNotFound, "no job " + id.value()};
    return versions;
  });
}

Result<std::vector<StoredJob>> MysqlStore::ListJobs(const JobFilter& filter) {
  auto [where, wanted] = ConditionsOf(filter);
  where.Add(wanted);
  where.Add(BehindCursor(filter));
  return InList(*pool_, "list jobs", [&](Session& session) -> Result<std::vector<StoredJob>> {
    CARILLON_ASSIGN_OR_RETURN(JobsRead read, ReadJobs(session, where.text(), where.params(),
                                                      filter.limit, OrderingOf(filter)));
    return std::move(read.jobs);
  });
}

Result<StoredJob> MysqlStore::ReplaceJob(const JobId& id, int64_t expected_version,
                                         const JobDefinition& definition,
                                         const WriteContext& context) {
  std::vector<ScheduleId> ids;
  if (!definition.schedules.empty()) {
    const size_t count = definition.schedules.size();
    CARILLON_ASSIGN_OR_RETURN(const uint64_t first, kept_->ids.Next(*pool_, "schedule", count));
    for (size_t i = count; i > 0; --i) ids.push_back(ScheduleId(first + i - 1));
  }
  return InTransaction(
      *pool_, {.operation = "replace job"}, [&](Session& session) -> Result<StoredJob> {
        CARILLON_ASSIGN_OR_RETURN(JobEdit edit,
                                  JobEdit::Begin(session, id, context, kept_->incarnations));
        CARILLON_TRY(CheckVersion(edit.job(), expected_version));
        edit.Replace(definition, ids);
        CARILLON_TRY(edit.Write(session));
        return edit.ToStored();
      });
}

Result<StoredJob> MysqlStore::PauseJob(const JobId& id, const std::string& reason,
                                       const WriteContext& context) {
  return InTransaction(
      *pool_, {.operation = "pause job"}, [&](Session& session) -> Result<StoredJob> {
        CARILLON_ASSIGN_OR_RETURN(JobEdit edit,
                                  JobEdit::Begin(session, id, context, kept_->incarnations));
        CARILLON_TRY(MustBeReadable(edit.job()));
        const bool paused = !edit.job().definition.enabled;
        const bool news = !reason.empty() && reason != edit.job().pause_reason;
        if (paused && !news) return edit.ToStored();
        paused ? edit.ExplainPause(reason) : edit.Pause(reason);
        CARILLON_TRY(edit.Write(session));
        return edit.ToStored();
      });
}

Result<StoredJob> MysqlStore::ResumeJob(const JobId& id, const std::string& /*reason*/,
                                        const WriteContext& context) {
  return InTransaction(
      *pool_, {.operation = "resume job"}, [&](Session& session) -> Result<StoredJob> {
        CARILLON_ASSIGN_OR_RETURN(JobEdit edit,
                                  JobEdit::Begin(session, id, context, kept_->incarnations));
        CARILLON_TRY(MustBeReadable(edit.job()));
        if (edit.job().definition.enabled) return edit.ToStored();
        edit.Resume();
        CARILLON_TRY(edit.Write(session));
        return edit.ToStored();
      });
}

Status MysqlStore::DeleteJob(const JobId& id, int64_t expected_version,
                             const WriteContext& context) {
  return InTransaction(*pool_, {.operation = "delete job"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(JobEdit edit,
                              JobEdit::Begin(session, id, context, kept_->incarnations));
    CARILLON_TRY(CheckVersion(edit.job(), expected_version));
    edit.Delete();
    return edit.Write(session);
  });
}

}  // namespace carillon::mysql
