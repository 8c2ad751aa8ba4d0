#include "common/adapters/mysql/jobs/mysql_job_store.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/dependencies/dependency_rows.h"
#include "common/adapters/mysql/dependencies/dependents_flag.h"
#include "common/adapters/mysql/dependencies/workflow_groups.h"
#include "common/adapters/mysql/job_rows/calendar_rows.h"
#include "common/adapters/mysql/job_rows/job_filter.h"
#include "common/adapters/mysql/job_rows/job_inserts.h"
#include "common/adapters/mysql/jobs/edited_job.h"
#include "common/adapters/mysql/jobs/job_edit.h"
#include "common/adapters/mysql/jobs/job_search.h"
#include "common/adapters/mysql/run_rows/count_rows.h"
#include "common/domain/job/pending_fires.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::mysql {
namespace {

Result<std::vector<StoredScheduleRow>> FirstSchedules(const StoredJobRow& job, uint64_t first_id,
                                                      const CalendarSet& set) {
  std::vector<StoredScheduleRow> rows;
  const JobDefinition& definition = job.definition;
  CARILLON_ASSIGN_OR_RETURN(const auto calendars, set.OfAll(definition.schedules));
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
               .priority = definition.priority,
               .run_flags = FlagsOfSchedule(definition, job.has_dependents)};
    const ScheduleSpec& spec = row.due.spec;
    CARILLON_ASSIGN_OR_RETURN(row.due.calendars, set.NumbersOf(spec.calendar, spec.blackout));
    row.due.calendar_version = set.VersionOf(row.due.calendars);
    row.set_place(FirstFireAfter(definition, spec, job.created, calendars[i]), definition.enabled);
    rows.push_back(std::move(row));
  }
  return rows;
}

struct FreshNumbers {
  uint64_t job;
  uint64_t first_schedule;
  uint32_t segment_count;
};

struct FreshJob {
  StoredJobRow row;
  uint64_t first_schedule;
  std::vector<StoredScheduleRow> schedules = {};
};

// The first schedule number is for the pseudo schedule of manual runs.
FreshJob Fresh(const FreshNumbers& numbers, const NewJob& wanted, WallTime now) {
  StoredJobRow job{.job_no = JobNo(numbers.job),
                   .job_id = wanted.job_id,
                   .segment = SegmentId(static_cast<uint32_t>(numbers.job % numbers.segment_count)),
                   .version = 1,
                   .manual_schedule = ScheduleId(numbers.first_schedule),
                   .definition = wanted.definition,
                   .created = now,
                   .updated = now};
  return {std::move(job), numbers.first_schedule + 1};
}

// Inserts the schedules of new jobs. `jobs` receive them.
Status AddSchedules(Session& session, std::vector<FreshJob>& jobs) {
  std::set<std::string> names;
  for (const FreshJob& job : jobs) AddCalendarNames(job.row.definition, &names);
  CARILLON_ASSIGN_OR_RETURN(const auto calendars, LockCalendars(session, names));
  std::vector<StoredScheduleRow> rows;
  for (FreshJob& job : jobs) {
    CARILLON_ASSIGN_OR_RETURN(job.schedules,
                              FirstSchedules(job.row, job.first_schedule, *calendars));
    rows.insert(rows.end(), job.schedules.begin(), job.schedules.end());
  }
  return InsertSchedules(session, rows);
}

StoredJob ToStored(const FreshJob& fresh) {
  const StoredJobRow& job = fresh.row;
  StoredJob stored{.job_no = job.job_no,
                   .job_id = job.job_id,
                   .segment = job.segment,
                   .version = job.version,
                   .definition = job.definition,
                   .schedules = {},
                   .pause_reason = {},
                   .created = job.created,
                   .updated = job.updated};
  for (const StoredScheduleRow& row : fresh.schedules) {
    stored.schedules.push_back({row.due.schedule_id, row.due.spec});
  }
  return stored;
}

Result<std::vector<StoredJob>> ReadNumbered(Session& session, const std::set<JobNo>& numbers) {
  if (numbers.empty()) return std::vector<StoredJob>();
  JsonRows json;
  for (const JobNo number : numbers) json.Begin().Add(number.value());
  const std::string wanted = json.Take();
  CARILLON_ASSIGN_OR_RETURN(
      JobsRead read,
      ReadJobs(session,
               "j.deleted = 0 AND j.job_no IN (SELECT k.n FROM JSON_TABLE(" CARILLON_JSON
               ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k)",
               {wanted}, numbers.size(), {.listed = "j.job_no"}));
  return std::move(read.jobs);
}

// `replacement` as for LockEdited.
Result<JobEdit> BeginEdit(Session& session, const JobId& id, const JobDefinition* replacement,
                          WallTime now, Incarnations& incarnations) {
  CARILLON_ASSIGN_OR_RETURN(EditedJob rows,
                            LockEdited(session, id, replacement, now, incarnations));
  return JobEdit(std::move(rows), now);
}

std::vector<StoredSchedule> SchedulesOf(const FreshJob& fresh) {
  std::vector<StoredSchedule> schedules;
  for (const StoredScheduleRow& row : fresh.schedules) {
    schedules.push_back({row.due.schedule_id, row.due.spec});
  }
  return schedules;
}

// True if there may be rows of job_dependencies that the job's definition has made.
bool NamesJobs(const JobDefinition& definition) {
  return definition.workflow || WaitsForOthers(definition) || !UpstreamOf(definition).empty();
}
bool Waits(const StoredJobRow& job) { return !job.readable || NamesJobs(job.definition); }

// nullopt: there is none; the edit then reports it.
Result<std::optional<JobNo>> NumberOfJob(Session& session, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT job_no FROM jobs WHERE job_id = ?", {id.value()}));
  if (!rows.Next()) return std::optional<JobNo>();
  return std::optional(JobNo(rows.Unsigned(1)));
}

Status CheckVersion(const StoredJobRow& job, int64_t expected) {
  if (job.version == expected) return {};
  return {ErrorCode::kConflict, fmt::format("job {} is at version {}, not {}", job.job_id.value(),
                                            job.version, expected)};
}

}  // namespace

Result<StoredJob> MysqlJobStore::CreateJob(const JobId& id, const JobDefinition& definition,
                                           const WriteContext& context) {
  CARILLON_ASSIGN_OR_RETURN(const uint64_t job_no, db_.caches().ids.Next(db_.pool(), "job", 1));
  CARILLON_ASSIGN_OR_RETURN(
      const uint64_t first_schedule,
      db_.caches().ids.Next(db_.pool(), "schedule", definition.schedules.size() + 1));
  std::vector<FreshJob> fresh{
      Fresh({job_no, first_schedule, db_.segment_count()}, {id, definition}, context.now)};
  CARILLON_TRY(RaiseFlags(UpstreamOf(definition)));
  const Status created =
      InTransaction(db_.pool(), {.operation = "create job"}, [&](Session& session) -> Status {
        FreshJob& job = fresh.front();
        CARILLON_ASSIGN_OR_RETURN(const auto upstream,
                                  CheckUpstream(session, id, std::nullopt, definition));
        CARILLON_TRY(FillGroups(session, {&job.row}));
        CARILLON_TRY(InsertJob(session, job.row, context.actor));
        CARILLON_TRY(AddSchedules(session, fresh));
        return InsertDependencies(session,
                                  {{job.row.job_no, SchedulesOf(job), definition, upstream}});
      });
  if (!created.ok()) {
    if (created.code() != ErrorCode::kExists) return created.error();
    return {ErrorCode::kExists, fmt::format("job_id {} is taken", id.value())};
  }
  return ToStored(fresh.front());
}

Result<StoredJobs> MysqlJobStore::CreateJobs(const NewJobs& jobs, const WriteContext& context) {
  if (jobs.empty()) return StoredJobs();
  uint64_t schedule_count = 0;
  for (const NewJob& job : jobs) schedule_count += job.definition.schedules.size() + 1;
  CARILLON_ASSIGN_OR_RETURN(uint64_t job_no, db_.caches().ids.Next(db_.pool(), "job", jobs.size()));
  CARILLON_ASSIGN_OR_RETURN(uint64_t schedule,
                            db_.caches().ids.Next(db_.pool(), "schedule", schedule_count));
  std::vector<StoredJobRow> rows;
  std::vector<FreshJob> fresh;
  for (const NewJob& wanted : jobs) {
    fresh.push_back(Fresh({job_no++, schedule, db_.segment_count()}, wanted, context.now));
    schedule += wanted.definition.schedules.size() + 1;
    rows.push_back(fresh.back().row);
  }
  // Sorts the rows, so that two transactions that write the same ids wait for each other
  // and do not deadlock.
  std::sort(rows.begin(), rows.end(),
            [](const StoredJobRow& a, const StoredJobRow& b) { return a.job_id < b.job_id; });
  std::set<JobId> awaited;
  for (const NewJob& job : jobs) {
    for (const JobId& id : UpstreamOf(job.definition)) awaited.insert(id);
  }
  CARILLON_TRY(RaiseFlags({awaited.begin(), awaited.end()}));
  const Status written =
      InTransaction(db_.pool(), {.operation = "create jobs"}, [&](Session& session) -> Status {
        CARILLON_ASSIGN_OR_RETURN(const auto upstream, CheckUpstreamOfNew(session, jobs));
        std::vector<StoredJobRow*> grouped;
        for (StoredJobRow& row : rows) grouped.push_back(&row);
        CARILLON_TRY(FillGroups(session, grouped));
        CARILLON_TRY(InsertJobs(session, rows, context.actor));
        CARILLON_TRY(AddSchedules(session, fresh));
        std::vector<NewDependent> dependents;
        for (size_t i = 0; i < fresh.size(); ++i) {
          if (upstream[i].empty()) continue;
          const StoredJobRow& row = fresh[i].row;
          dependents.push_back({row.job_no, SchedulesOf(fresh[i]), row.definition, upstream[i]});
        }
        return InsertDependencies(session, dependents);
      });
  if (written.ok()) {
    StoredJobs created;
    for (const FreshJob& one : fresh) created.push_back(ToStored(one));
    return created;
  }
  if (written.code() != ErrorCode::kExists) return written.error();
  return {ErrorCode::kExists, fmt::format("the job_id of one of {} jobs is taken", jobs.size())};
}

Result<FoundJobs> MysqlJobStore::FindJobs(const JobKeys& keys) {
  static const std::string by_id =
      "SELECT j.job_no, j.job_id, j.deleted FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (i VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]')) k "
      "STRAIGHT_JOIN jobs j FORCE INDEX (by_job_id) ON j.job_id = k.i";
  // LENGTH is compared too, because text comparison ignores trailing spaces.
  static const std::string by_name =
      "SELECT j.job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (s VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]', n "
      "VARCHAR(400) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[1]')) k STRAIGHT_JOIN jobs j "
      "FORCE INDEX (by_full_name) ON j.namespace = k.s AND "
      "j.name = k.n AND LENGTH(j.name) = LENGTH(k.n) WHERE j.deleted = 0 LIMIT ?";
  JsonRows ids;
  for (const JobId& id : keys.ids) ids.Begin().Add(id.value());
  JsonRows names;
  for (const auto& [name_space, name] : keys.names) names.Begin().Add(name_space).Add(name);
  const std::string ids_json = ids.Take();
  const std::string names_json = names.Take();
  return InRead(db_.pool(), "find jobs", [&](Session& session) -> Result<FoundJobs> {
    FoundJobs found;
    std::set<JobNo> numbers;
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(by_id, {ids_json}));
      while (rows.Next()) {
        found.taken.insert(JobId(rows.Text(2)));
        if (rows.Int(3) == 0) numbers.insert(JobNo(rows.Unsigned(1)));
      }
    }
    {
      CARILLON_ASSIGN_OR_RETURN(Rows rows,
                                session.Query(by_name, {names_json, uint64_t{kJobsFoundMax + 1}}));
      while (rows.Next()) numbers.insert(JobNo(rows.Unsigned(1)));
    }
    if (numbers.size() > kJobsFoundMax) {
      return {ErrorCode::kExhausted, "find jobs: too many have those names"};
    }
    CARILLON_ASSIGN_OR_RETURN(found.jobs, ReadNumbered(session, numbers));
    return found;
  });
}

Result<StoredJob> MysqlJobStore::GetJob(const JobId& id) {
  return InRead(db_.pool(), "get job", [&](Session& session) -> Result<StoredJob> {
    CARILLON_ASSIGN_OR_RETURN(JobsRead found, ReadJobs(session, "j.job_id = ? AND j.deleted = 0",
                                                       {id.value()}, 1, {.unreadable = true}));
    if (found.jobs.empty()) return {ErrorCode::kNotFound, "no job " + id.value()};
    StoredJob& job = found.jobs.front();
    if (!job.problem.empty()) return {ErrorCode::kCorrupt, std::move(job.problem)};
    return std::move(job);
  });
}

Result<JobHead> MysqlJobStore::GetJobHead(const JobId& id) {
  return InRead(db_.pool(), "get job", [&](Session& session) { return ReadHead(session, id); });
}

// Uses a loose index scan: a namespace costs a few index entries, however many jobs it has.
Result<std::vector<std::string>> MysqlJobStore::ListNamespaces(const std::string& after,
                                                               size_t limit) {
  return InRead(
      db_.pool(), "list namespaces", [&](Session& session) -> Result<std::vector<std::string>> {
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

Result<std::vector<JobVersion>> MysqlJobStore::ListVersions(const JobId& id, int64_t before,
                                                            size_t limit) {
  return InRead(
      db_.pool(), "list versions", [&](Session& session) -> Result<std::vector<JobVersion>> {
        // The LEFT JOIN returns a row even for a job without a version below `before`. So if there
        // is no row at all, there is no such job.
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query(
                "SELECT v.version, v.actor, v.created_us, v.definition FROM jobs j LEFT JOIN "
                "job_versions v ON v.job_no = j.job_no AND v.version < ? WHERE j.job_id = ? "
                "AND j.deleted = 0 ORDER BY v.version DESC LIMIT ?",
                {before, id.value(), static_cast<uint64_t>(limit)}));
        std::vector<JobVersion> versions;
        bool known = false;
        while (rows.Next()) {
          known = true;
          if (rows.IsNull(1)) break;
          JobVersion version{
              .version = rows.Int(1), .actor = rows.Text(2), .created = rows.Time(3)};
          auto definition = DefinitionFromText(rows.Text(4), id);
          if (definition.ok()) version.definition = std::move(definition).value();
          versions.push_back(std::move(version));
        }
        if (!known) return {ErrorCode::kNotFound, "no job " + id.value()};
        return versions;
      });
}

Result<JobPage> MysqlJobStore::ListJobs(const JobFilter& filter) {
  return InList(db_.pool(), "list jobs",
                [&](Session& session) { return SearchJobs(session, filter); });
}

Result<StoredJob> MysqlJobStore::ReplaceJob(const JobId& id, int64_t expected_version,
                                            const JobDefinition& definition,
                                            const WriteContext& context) {
  std::vector<ScheduleId> ids;
  if (!definition.schedules.empty()) {
    const size_t count = definition.schedules.size();
    CARILLON_ASSIGN_OR_RETURN(const uint64_t first,
                              db_.caches().ids.Next(db_.pool(), "schedule", count));
    for (size_t i = count; i > 0; --i) ids.push_back(ScheduleId(first + i - 1));
  }
  CARILLON_TRY(RaiseFlags(UpstreamOf(definition)));
  return InTransaction(
      db_.pool(), {.operation = "replace job"}, [&](Session& session) -> Result<StoredJob> {
        std::optional<JobNo> job_no;
        if (NamesJobs(definition)) {
          CARILLON_ASSIGN_OR_RETURN(job_no, NumberOfJob(session, id));
        }
        CARILLON_ASSIGN_OR_RETURN(const auto upstream,
                                  CheckUpstream(session, id, job_no, definition));
        CARILLON_ASSIGN_OR_RETURN(JobEdit edit, BeginEdit(session, id, &definition, context.now,
                                                          db_.caches().incarnations));
        CARILLON_TRY(CheckVersion(edit.job(), expected_version));
        const bool waited = Waits(edit.job());
        CARILLON_TRY(edit.Replace(definition, ids));
        CARILLON_TRY(WriteEdited(session, edit.rows(), context));
        StoredJob stored = edit.ToStored();
        if (waited || NamesJobs(definition)) {
          CARILLON_TRY(
              WriteDependencies(session, stored.job_no, stored.schedules, definition, upstream));
          CARILLON_TRY(WriteWorkflowGroups(session, stored.job_no, definition, edit.rows().groups));
        }
        return stored;
      });
}

Result<StoredJob> MysqlJobStore::PauseJob(const JobId& id, const std::string& reason,
                                          const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "pause job"}, [&](Session& session) -> Result<StoredJob> {
        CARILLON_ASSIGN_OR_RETURN(
            JobEdit edit, BeginEdit(session, id, nullptr, context.now, db_.caches().incarnations));
        CARILLON_TRY(MustBeReadable(edit.job()));
        const bool paused = !edit.job().definition.enabled;
        const bool news = !reason.empty() && reason != edit.job().pause_reason;
        if (paused && !news) return edit.ToStored();
        paused ? edit.ExplainPause(reason) : edit.Pause(reason);
        CARILLON_TRY(WriteEdited(session, edit.rows(), context));
        return edit.ToStored();
      });
}

Result<StoredJob> MysqlJobStore::ResumeJob(const JobId& id, const std::string& /*reason*/,
                                           const WriteContext& context) {
  return InTransaction(
      db_.pool(), {.operation = "resume job"}, [&](Session& session) -> Result<StoredJob> {
        CARILLON_ASSIGN_OR_RETURN(
            JobEdit edit, BeginEdit(session, id, nullptr, context.now, db_.caches().incarnations));
        CARILLON_TRY(MustBeReadable(edit.job()));
        if (edit.job().definition.enabled) return edit.ToStored();
        edit.Resume();
        CARILLON_TRY(WriteEdited(session, edit.rows(), context));
        return edit.ToStored();
      });
}

Status MysqlJobStore::DeleteJob(const JobId& id, int64_t expected_version,
                                const WriteContext& context) {
  return InTransaction(db_.pool(), {.operation = "delete job"}, [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(
        JobEdit edit, BeginEdit(session, id, nullptr, context.now, db_.caches().incarnations));
    CARILLON_TRY(CheckVersion(edit.job(), expected_version));
    // Whoever names this job in another one locks its row, too, and looks whether it is there.
    if (!context.force) {
      CARILLON_ASSIGN_OR_RETURN(const auto names, SomeDependents(session, edit.job().job_no));
      if (!names.empty()) {
        return {ErrorCode::kExists, fmt::format("job {} is awaited or run by {} and perhaps others",
                                                id.value(), names.front())};
      }
    }
    const bool waited = Waits(edit.job());
    const JobNo job_no = edit.job().job_no;
    edit.Delete();
    CARILLON_TRY(WriteEdited(session, edit.rows(), context));
    if (!waited) return {};
    CARILLON_TRY(DeleteDependencies(session, job_no));
    return DeleteWorkflowGroups(session, job_no);
  });
}

// In transactions that lock a limited number of jobs.
Status MysqlJobStore::RaiseFlags(const std::vector<JobId>& upstream) {
  constexpr size_t kJobsMax = 100;
  for (size_t first = 0; first < upstream.size(); first += kJobsMax) {
    const size_t end = std::min(first + kJobsMax, upstream.size());
    const std::vector<JobId> ids(upstream.begin() + static_cast<long>(first),
                                 upstream.begin() + static_cast<long>(end));
    CARILLON_TRY(InTransaction(db_.pool(), {.operation = "await jobs"}, [&](Session& session) {
      return RaiseDependentsFlags(session, ids, db_.caches().incarnations);
    }));
  }
  return {};
}

Result<JobDependencies> MysqlJobStore::ListDependencies(const JobId& id) {
  return InRead(db_.pool(), "job dependencies",
                [&](Session& session) { return ReadDependencies(session, id); });
}

Result<BoundedCount> MysqlJobStore::CountJobs(const JobFilter& filter) {
  const auto [namespaces, names, others] = ConditionsOf(filter);
  CountedRows rows{.from = "jobs j", .order = "j.job_id", .within = namespaces, .wanted = names};
  rows.within.Add("j.deleted = 0");
  rows.wanted.Add(others);
  // Without this hint the optimizer reads all jobs in order and skips jobs of other namespaces.
  if (filter.namespaces.size() == 1 && !rows.wanted.empty()) {
    rows.from += " FORCE INDEX (by_namespace)";
  }
  return CountIn(db_.pool(), rows);
}

Result<BoundedCount> MysqlJobStore::CountVersions(const JobId& id) {
  Conditions within;
  within.Add("v.job_no = (SELECT x.job_no FROM jobs x WHERE x.job_id = ? AND x.deleted = 0)",
             {id.value()});
  return CountIn(db_.pool(),
                 {.from = "job_versions v", .order = "v.version DESC", .within = within});
}

// Uses a loose index scan, as ListNamespaces does.
Result<BoundedCount> MysqlJobStore::CountNamespaces() {
  return InCount(db_.pool(), [&](Session& session) -> Result<BoundedCount> {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows, session.Query("SELECT COUNT(*) FROM (SELECT namespace FROM jobs FORCE INDEX "
                                 "(by_namespace) WHERE namespace > '' AND deleted = 0 GROUP BY "
                                 "namespace LIMIT ?) x",
                                 {uint64_t{kListedCountMax + 1}}));
    rows.Next();
    const size_t found = rows.Unsigned(1);
    return BoundedCount{.seen = std::min(found, kListedCountMax), .all = found <= kListedCountMax};
  });
}

}  // namespace carillon::mysql
