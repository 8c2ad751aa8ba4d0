#include "common/adapters/mysql/job_rows/job_rows.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/adapters/mysql/job_rows/job_inserts.h"
#include "common/adapters/mysql/job_rows/retry_columns.h"
#include "common/adapters/mysql/job_rows/task_job_rows.h"
#include "common/adapters/mysql/run_rows/job_owner.h"
#include "common/domain/job/job_types.h"
#include "common/wire/json/job/job_json.h"

namespace carillon::mysql {

std::string FromTime(std::string_view column) {
  return fmt::format("TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', {})", column);
}

std::string ToTime(std::string_view placeholder) {
  return fmt::format("TIMESTAMPADD(MICROSECOND, {}, '1970-01-01 00:00:00')", placeholder);
}

Param CronOf(const JobDefinition& definition) {
  if (definition.schedules.size() != 1) return nullptr;
  const ScheduleSpec& spec = definition.schedules.front();
  if (spec.kind != ScheduleKind::kCron) return nullptr;
  return std::string_view(spec.cron_expression);
}

int64_t ChangingFlagsOf(const StoredJobRow& job) {
  return (job.paused_by_failures ? 2 : 0) + (WaitsForOthers(job.definition) ? 4 : 0);
}

namespace {

const std::string kJobColumns =
    "j.job_no, j.job_id, j.segment, j.version, j.manual_schedule_id, j.deleted, j.pause_reason, " +
    FromTime("j.create_time") + ", " + FromTime("j.update_time") +
    ", v.definition, j.enabled, j.overlap_policy, j.name, j.namespace, j.max_running, j.queue_max, "
    "j.group_no, j.flags & 1, j.user_id, j.type, j.flags & 2, j.flags & 4";
constexpr uint32_t kJobColumnCount = 22;

StoredJobRow ReadJob(const Session& session, const Rows& rows) {
  StoredJobRow job;
  job.job_no = JobNo(rows.Unsigned(1));
  job.job_id = JobId(rows.Text(2));
  job.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(3)));
  job.version = rows.Int(4);
  job.manual_schedule = ScheduleId(rows.Unsigned(5));
  job.deleted = rows.Int(6) != 0;
  job.pause_reason = rows.Text(7);
  job.created = rows.Time(8);
  job.updated = rows.Time(9);
  Result<JobDefinition> definition = DefinitionFromText(rows.Text(10), job.job_id);
  job.readable = definition.ok();
  if (definition.ok()) {
    job.definition = std::move(definition).value();
  } else {
    job.definition.enabled = rows.Int(11) != 0;
    job.definition.overlap_policy =
        ParseName<OverlapPolicy>(rows.Text(12)).value_or(OverlapPolicy::kSkip);
    job.definition.name = rows.Text(13);
    job.definition.max_running = rows.Int(15);
    job.definition.queue_max = rows.Int(16);
    job.definition.user_id = rows.Text(19);
    job.definition.type = ParseName<JobType>(rows.Text(20)).value_or(JobType::kShell);
    job.problem = UnreadableSentence(job.job_id, job.version, definition.error().message);
    session.NoteUnreadable("job_versions",
                           fmt::format("{} version {}", job.job_id.value(), job.version),
                           definition.error().message);
  }
  // The column is authoritative, also for a definition that cannot be read.
  job.definition.name_space = rows.Text(14);
  job.group = GroupNo(rows.Unsigned(17));
  job.has_dependents = rows.Int(18) != 0;
  job.paused_by_failures = rows.Int(21) != 0;
  job.waited = rows.Int(22) != 0;
  return job;
}

Status InsertVersion(Session& session, const StoredJobRow& job, const std::string& actor) {
  const std::string text = DefinitionToText(job.definition);
  CARILLON_TRY(session.Execute(
      "INSERT INTO job_versions (job_no, version, name, definition, actor, created_us) "
      "VALUES (?, ?, ?, ?, ?, ?)",
      {job.job_no.value(), job.version, job.definition.name, text, actor,
       ToUnixMicros(job.updated)}));
  return {};
}

Status MoveUnreadable(Session& session, const StoredJobRow& job, const std::string& actor) {
  static const std::string statement =
      "UPDATE jobs SET version = ?, deleted = ?, update_time = " + ToTime("?") +
      " WHERE job_no = ?";
  CARILLON_TRY(session.Execute(
      "INSERT INTO job_versions (job_no, version, name, definition, actor, created_us) "
      "SELECT v.job_no, ?, v.name, v.definition, ?, ? FROM job_versions v JOIN jobs j "
      "ON j.job_no = v.job_no AND j.version = v.version WHERE j.job_no = ?",
      {job.version, actor, ToUnixMicros(job.updated), job.job_no.value()}));
  CARILLON_TRY(session.Execute(statement, {job.version, int64_t{job.deleted},
                                           ToUnixMicros(job.updated), job.job_no.value()}));
  return {};
}

const std::string kChangingColumns =
    "version = ?, enabled = ?, deleted = ?, pause_reason = ?, user_id = ?, namespace = ?, "
    "name = ?, type = ?, command = ?, priority = ?, cron_expression = ?, timeout = ?, "
    "retry_count = ?, retry_interval = ?, retry_backoff = ?, retry_intervals = ?, on_lost = ?, "
    "overlap_policy = ?, max_running = ?, queue_max = ?, retention_days = ?, group_no = ?, "
    "retry_conditions = ?, pause_after_failures = ?, presume_dead = ?, "
    "flags = (flags & ~6) | ?, update_time = " +
    ToTime("?");

// The texts that ChangingParams refers to.
struct JoinedTexts {
  explicit JoinedTexts(const JobDefinition& job)
      : intervals(JoinIntervals(job.retry_intervals_s)), conditions(JoinConditions(job)) {}
  const std::string intervals;
  const std::string conditions;
};

// `texts` must outlive the statement.
Params ChangingParams(const StoredJobRow& job, const JoinedTexts& texts) {
  const JobDefinition& d = job.definition;
  return {job.version,
          int64_t{d.enabled},
          int64_t{job.deleted},
          job.pause_reason,
          d.user_id,
          d.name_space,
          d.name,
          Name(d.type),
          d.command,
          int64_t{d.priority},
          CronOf(d),
          d.timeout_s,
          d.retry_count,
          d.retry_interval_s,
          Name(d.retry_backoff),
          texts.intervals,
          Name(d.on_lost),
          Name(d.overlap_policy),
          d.max_running,
          d.queue_max,
          d.retention_days,
          job.group.value(),
          texts.conditions,
          d.pause_after_failures,
          d.presume_dead_s,
          ChangingFlagsOf(job),
          ToUnixMicros(job.updated)};
}

}  // namespace

JobRow ToJobRow(const StoredJobRow& job) {
  return {.job_no = job.job_no,
          .version = job.version,
          .paused = !job.definition.enabled,
          .deleted = job.deleted,
          .priority = job.definition.priority,
          .overlap = OverlapRulesOf(job.definition),
          .retry = RetryRulesOf(job.definition),
          .cooperative = IsCooperative(job.definition.type),
          .segment = job.segment,
          .has_dependents = job.has_dependents,
          .waits = job.readable ? WaitsForOthers(job.definition) : job.waited};
}

Status LockJobs(Session& session, std::vector<JobNo> jobs, LockedJobs* locked) {
  static const std::string statement =
      "SELECT j.job_no, j.version, j.enabled, j.deleted, j.overlap_policy, j.retry_count, "
      "j.retry_interval, j.retry_backoff, j.retry_intervals, j.on_lost, j.priority, j.max_running, "
      "j.queue_max, j.segment, j.flags & 1, j.retry_conditions, j.type, j.flags & 4, "
      "j.presume_dead FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = k.n" +
      ForShareOf("j");
  if (jobs.empty()) return {};
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  JsonRows wanted;
  for (const JobNo job_no : jobs) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    JobRow job{.job_no = JobNo(rows.Unsigned(1)),
               .version = rows.Int(2),
               .paused = rows.Int(3) == 0,
               .deleted = rows.Int(4) == 1};  // not of the row of tasks
    job.overlap = {.policy = ParseName<OverlapPolicy>(rows.Text(5)).value_or(OverlapPolicy::kSkip),
                   .max_running = rows.Int(12),
                   .queue_max = rows.Int(13)};
    job.retry.retry_count = rows.Int(6);
    job.retry.interval = std::chrono::seconds(rows.Int(7));
    const Result<RetryBackoff> backoff = ParseName<RetryBackoff>(rows.Text(8));
    const Result<OnLost> on_lost = ParseName<OnLost>(rows.Text(10));
    // An unknown rule of this job must not stop the other runs of the batch, so it is replaced by
    // the rule that risks least.
    if (!backoff.ok() || !on_lost.ok()) {
      session.NoteUnreadable("jobs", std::to_string(job.job_no.value()), "unknown rule");
    }
    job.retry.backoff = backoff.value_or(RetryBackoff::kFixed);
    job.retry.intervals = SplitIntervals(rows.Text(9));
    job.retry.on_lost = on_lost.value_or(OnLost::kHold);
    if (!SplitConditions(rows.Text(16), &job.retry.conditions)) {
      session.NoteUnreadable("jobs", std::to_string(job.job_no.value()), "unknown retry condition");
      job.retry.retry_count = 0;
    }
    // A type of a later version counts as one that cannot be ended.
    const Result<JobType> type = ParseName<JobType>(rows.Text(17));
    job.cooperative = !type.ok() || IsCooperative(*type);
    job.priority = static_cast<int>(rows.Int(11));
    job.segment = SegmentId(static_cast<uint32_t>(rows.Unsigned(14)));
    job.has_dependents = rows.Int(15) != 0;
    job.waits = rows.Int(18) != 0;
    job.retry.presume_dead = std::chrono::seconds(rows.Int(19));
    (*locked)[job.job_no] = std::move(job);
  }
  return {};
}

Status MustBeReadable(const StoredJobRow& job) {
  if (job.readable) return {};
  return {ErrorCode::kCorrupt, fmt::format("job {}: the definition of version {} cannot be read",
                                           job.job_id.value(), job.version)};
}

Result<StoredJobRow> LockLiveJob(Session& session, const JobId& id, JobLock lock) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT " + kJobColumns +
                        " FROM jobs j STRAIGHT_JOIN job_versions v ON v.job_no = j.job_no AND "
                        "v.version = j.version WHERE j.job_id = ? AND j.deleted = 0 " +
                        (lock == JobLock::kShare ? "LOCK IN SHARE MODE" : "FOR UPDATE"),
                    {id.value()}));
  if (!rows.Next()) return {ErrorCode::kNotFound, "no job " + id.value()};
  return ReadJob(session, rows);
}

Result<StoredJobRow> LockJob(Session& session, JobNo job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT " + kJobColumns +
                        " FROM jobs j STRAIGHT_JOIN job_versions v ON v.job_no = j.job_no AND "
                        "v.version = j.version WHERE j.job_no = ? LOCK IN SHARE MODE",
                    {job_no.value()}));
  if (!rows.Next()) {
    return {ErrorCode::kNotFound, "no job with the number " + std::to_string(job_no.value())};
  }
  StoredJobRow job = ReadJob(session, rows);
  CARILLON_TRY(MustBeReadable(job));
  return job;
}

Result<std::map<std::string, GroupNo>> LockGroupNumbers(Session& session,
                                                        const NamedGroups& groups) {
  static const std::string statement =
      "SELECT g.name, g.group_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n VARCHAR(255) CHARACTER SET "
      "ascii COLLATE ascii_bin PATH '$[0]')) k STRAIGHT_JOIN concurrency_groups g FORCE INDEX "
      "(by_name) ON g.name = k.n" +
      ForShareOf("g");
  std::map<std::string, GroupNo> numbers;
  if (groups.empty()) return numbers;
  JsonRows wanted;
  for (const auto& [name, pointer] : groups) wanted.Begin().Add(name);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) numbers[rows.Text(1)] = GroupNo(rows.Unsigned(2));
  for (const auto& [name, pointer] : groups) {
    if (!numbers.contains(name)) {
      return Error{ErrorCode::kInvalid, fmt::format("there is no concurrency group {}", name),
                   pointer};
    }
  }
  return numbers;
}

Status InsertJob(Session& session, const StoredJobRow& job, const std::string& actor) {
  static const std::string statement =
      "INSERT INTO jobs SET job_no = ?, job_id = ?, segment = ?, manual_schedule_id = ?, "
      "create_time = " +
      ToTime("?") + ", " + kChangingColumns;
  const JoinedTexts texts(job.definition);
  Params params = {job.job_no.value(), job.job_id.value(), uint64_t{job.segment.value()},
                   job.manual_schedule.value(), ToUnixMicros(job.created)};
  const Params changing = ChangingParams(job, texts);
  params.insert(params.end(), changing.begin(), changing.end());
  CARILLON_TRY(session.Execute(statement, params));
  if (NeedsTaskJob(job.definition)) CARILLON_TRY(InsertTaskJobs(session, {job.job_no}));
  return InsertVersion(session, job, actor);
}

Status UpdateJob(Session& session, const StoredJobRow& job, const std::string& actor) {
  static const std::string statement = "UPDATE jobs SET " + kChangingColumns + " WHERE job_no = ?";
  if (!job.readable) return MoveUnreadable(session, job, actor);
  const JoinedTexts texts(job.definition);
  Params params = ChangingParams(job, texts);
  params.push_back(job.job_no.value());
  CARILLON_TRY(session.Execute(statement, params));
  CARILLON_TRY(WriteTaskJob(session, job.job_no, job.definition));
  return InsertVersion(session, job, actor);
}

namespace {

StoredJob ToStored(StoredJobRow row) {
  return {.job_no = row.job_no,
          .job_id = std::move(row.job_id),
          .segment = row.segment,
          .version = row.version,
          .definition = std::move(row.definition),
          .schedules = {},
          .pause_reason = std::move(row.pause_reason),
          .created = row.created,
          .updated = row.updated,
          .problem = std::move(row.problem),
          .paused_by_failures = row.paused_by_failures};
}

Result<JobsRead> ReadSomeJobs(Session& session, const std::string& where, Params params,
                              size_t limit, const JobOrdering& ordering) {
  const std::string& walked = ordering.walked.empty() ? ordering.listed : ordering.walked;
  params.push_back(static_cast<uint64_t>(limit));
  // Uses one statement, so that the job and its schedules are of the same version.
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT " + kJobColumns + ", s.schedule_id, s.position FROM (SELECT j.* FROM " +
                        ordering.from + " WHERE " + where + " ORDER BY " + walked +
                        " LIMIT ?) j STRAIGHT_JOIN job_versions v "
                        "ON v.job_no = j.job_no AND v.version = j.version "
                        "LEFT JOIN job_schedules s ON s.job_no = j.job_no "
                        "ORDER BY " +
                        ordering.listed + ", s.position",
                    params));
  JobsRead read;
  std::optional<JobNo> left_out;  // the further rows of this job are left out too
  while (rows.Next()) {
    const JobNo job_no(rows.Unsigned(1));
    if (left_out == job_no) continue;
    if (read.jobs.empty() || read.jobs.back().job_no != job_no) {
      StoredJobRow row = ReadJob(session, rows);
      const bool shown = row.readable || ordering.unreadable;
      if (!row.readable) left_out = job_no;
      if (shown) read.jobs.push_back(ToStored(std::move(row)));
      if (!shown) ++read.left_out;
      if (left_out == job_no) continue;
    }
    if (rows.IsNull(kJobColumnCount + 1)) continue;
    const std::vector<ScheduleSpec>& specs = read.jobs.back().definition.schedules;
    const ScheduleId id(rows.Unsigned(kJobColumnCount + 1));
    const uint64_t position = rows.Unsigned(kJobColumnCount + 2);
    if (position < specs.size()) {
      read.jobs.back().schedules.push_back({id, specs[position]});
      continue;
    }
    session.NoteUnreadable("job_schedules", std::to_string(id.value()), "no such position");
    left_out = job_no;
    StoredJob& job = read.jobs.back();
    job.problem = UnreadableSentence(job.job_id, job.version, "a schedule is not in it");
    if (ordering.unreadable) continue;
    ++read.left_out;
    read.jobs.pop_back();
  }
  return read;
}

}  // namespace

Result<JobsRead> ReadJobs(Session& session, const std::string& where, const Params& params,
                          size_t limit, const JobOrdering& ordering) {
  // Reads more if jobs were left out: a page with fewer than `limit` counts as the last one.
  for (size_t asked = limit;;) {
    CARILLON_ASSIGN_OR_RETURN(JobsRead read, ReadSomeJobs(session, where, params, asked, ordering));
    const bool more = read.jobs.size() + read.left_out == asked;
    if (!more || read.jobs.size() >= limit) {
      if (read.jobs.size() > limit) read.jobs.resize(limit);
      return read;
    }
    asked = limit + read.left_out;
  }
}

Result<std::vector<JobVersionRecord>> ReadDefinitions(Session& session,
                                                      const std::vector<JobVersionKey>& keys,
                                                      std::vector<size_t>* bytes) {
  // The row of tasks has no versions, nor schedules: those of its workflow are read.
  static const std::string statement =
      "SELECT k.n, v.version, j.job_id, v.definition, (SELECT GROUP_CONCAT(s.schedule_id "
      "ORDER BY s.position) FROM job_schedules s FORCE INDEX (by_job) WHERE s.job_no = k.n "
      "AND s.job_version = v.version) FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS ("
      "n BIGINT UNSIGNED PATH '$[0]', v BIGINT PATH '$[1]')) k STRAIGHT_JOIN job_versions v "
      "FORCE INDEX (PRIMARY) ON v.job_no = " +
      OwnerNumber("k.n") +
      " AND v.version = k.v STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = v.job_no";
  JsonRows wanted;
  for (const JobVersionKey& key : keys) wanted.Begin().Add(key.job_no.value()).Add(key.version);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::vector<JobVersionRecord> found;
  while (rows.Next()) {
    JobVersionRecord record{.job_no = JobNo(rows.Unsigned(1)),
                            .version = rows.Int(2),
                            .job_id = JobId(rows.Text(3)),
                            .definition = {}};
    for (const int64_t schedule : SplitNumbers(rows.Text(5))) {
      record.schedule_ids.emplace_back(static_cast<uint64_t>(schedule));
    }
    const std::string text = rows.Text(4);
    if (bytes != nullptr) bytes->push_back(text.size());
    Result<JobDefinition> definition = DefinitionFromText(text, record.job_id);
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

}  // namespace carillon::mysql
