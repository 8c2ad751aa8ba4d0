#include "common/adapters/mysql/dependencies/dependency_rows.h"

#include <array>
#include <set>

#include "common/adapters/mysql/client/json_rows.h"

namespace carillon::mysql {
namespace {

// Fails for an outcome of a later version.
Result<AfterOutcome> OutcomeOf(const Rows& rows, uint32_t column) {
  return ParseName<AfterOutcome>(rows.Text(column));
}

// Runs that ended before it start nothing.
Result<uint64_t> NewestCompletion(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows newest,
                            session.Query("SELECT COALESCE(MAX(id), 0) FROM run_completions", {}));
  return newest.Next() ? newest.Unsigned(1) : uint64_t{0};
}

// The rows of the nodes' jobs, one for each job.
Status WriteNodeJobs(Session& session, JobNo job_no, const JobDefinition& definition,
                     const UpstreamNumbers& upstream) {
  static const std::string insert =
      "INSERT INTO job_dependencies (kind, upstream_job_no, job_no, schedule_id, outcome, "
      "since_id) SELECT 'node', k.u, ?, 0, '', 0 FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (u BIGINT "
      "UNSIGNED PATH '$[0]')) k";
  CARILLON_TRY(session.Execute("DELETE FROM job_dependencies WHERE job_no = ? AND kind = 'node'",
                               {job_no.value()}));
  JsonRows rows;
  for (const JobId& node : NodeJobsOf(definition)) {
    const auto found = upstream.find(node);
    if (found != upstream.end()) rows.Begin().Add(found->second.value());
  }
  if (rows.empty()) return {};
  CARILLON_TRY(session.Execute(insert, {job_no.value(), rows.Take()}));
  return {};
}

// The rows of `waits_for`: schedule_id is 2 * the entry, + 1 for its workflow.
template <typename Add>
void AddWaits(const JobDefinition& definition, const UpstreamNumbers& upstream, Add add) {
  for (size_t i = 0; i < definition.waits_for.size(); ++i) {
    const UpstreamWait& wait = definition.waits_for[i];
    add(upstream.find(wait.job), 2 * i, wait.on);
    if (!wait.in.empty()) add(upstream.find(wait.in), 2 * i + 1, wait.on);
  }
}

Status WriteWaits(Session& session, JobNo job_no, const JobDefinition& definition,
                  const UpstreamNumbers& upstream) {
  static const std::string insert =
      "INSERT INTO job_dependencies (kind, upstream_job_no, job_no, schedule_id, outcome, "
      "since_id) SELECT 'waits', k.u, ?, k.s, k.o, 0 FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (u BIGINT UNSIGNED PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', "
      "o VARCHAR(32) PATH '$[2]')) k";
  CARILLON_TRY(session.Execute("DELETE FROM job_dependencies WHERE job_no = ? AND kind = 'waits'",
                               {job_no.value()}));
  JsonRows rows;
  AddWaits(definition, upstream, [&](auto named, uint64_t place, AfterOutcome on) {
    if (named == upstream.end()) return;
    rows.Begin().Add(named->second.value()).Add(place).Add(Name(on));
  });
  if (rows.empty()) return {};
  CARILLON_TRY(session.Execute(insert, {job_no.value(), rows.Take()}));
  return {};
}

}  // namespace

Status WriteDependencies(Session& session, JobNo job_no,
                         const std::vector<StoredSchedule>& schedules,
                         const JobDefinition& definition, const UpstreamNumbers& upstream) {
  static const std::string remove =
      "DELETE FROM job_dependencies WHERE job_no = ? AND kind = 'after' AND schedule_id NOT IN "
      "(SELECT k.s FROM "
      "JSON_TABLE(" CARILLON_JSON ", '$[*]' COLUMNS (s BIGINT UNSIGNED PATH '$[0]')) k)";
  static const std::string insert =
      "INSERT INTO job_dependencies (kind, upstream_job_no, job_no, schedule_id, outcome, "
      "since_id) "
      "SELECT 'after', k.u, ?, k.s, k.o, ? FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (s BIGINT UNSIGNED "
      "PATH "
      "'$[0]', u BIGINT UNSIGNED PATH '$[1]', o VARCHAR(32) PATH '$[2]')) k ON DUPLICATE KEY "
      "UPDATE "
      "job_dependencies.outcome = VALUES(outcome)";
  JsonRows kept;
  JsonRows rows;
  for (const StoredSchedule& schedule : schedules) {
    if (schedule.spec.kind != ScheduleKind::kAfter) continue;
    const auto found = upstream.find(JobId(schedule.spec.upstream));
    kept.Begin().Add(schedule.schedule_id.value());
    if (found == upstream.end()) continue;
    rows.Begin()
        .Add(schedule.schedule_id.value())
        .Add(found->second.value())
        .Add(Name(schedule.spec.on));
  }
  CARILLON_TRY(WriteNodeJobs(session, job_no, definition, upstream));
  CARILLON_TRY(WriteWaits(session, job_no, definition, upstream));
  if (kept.empty()) {
    CARILLON_TRY(session.Execute("DELETE FROM job_dependencies WHERE job_no = ? AND kind = 'after'",
                                 {job_no.value()}));
    return {};
  }
  CARILLON_TRY(session.Execute(remove, {job_no.value(), kept.Take()}));
  if (rows.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(const uint64_t since, NewestCompletion(session));
  CARILLON_TRY(session.Execute(insert, {job_no.value(), since, rows.Take()}));
  return {};
}

Status InsertDependencies(Session& session, const std::vector<NewDependent>& dependents) {
  static const std::string insert =
      "INSERT INTO job_dependencies (kind, upstream_job_no, job_no, schedule_id, outcome, "
      "since_id) SELECT k.d, k.u, k.j, k.s, k.o, IF(k.d = 'after', ?, 0) FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (d VARCHAR(8) PATH '$[0]', u BIGINT UNSIGNED PATH '$[1]', j BIGINT "
      "UNSIGNED "
      "PATH '$[2]', s BIGINT UNSIGNED PATH '$[3]', o VARCHAR(32) PATH '$[4]')) k";
  JsonRows rows;
  for (const NewDependent& one : dependents) {
    const auto add = [&](std::string_view kind, const JobId& named, uint64_t schedule,
                         std::string_view outcome) {
      const auto found = one.upstream.find(named);
      if (found == one.upstream.end()) return;
      rows.Begin().Add(kind).Add(found->second.value()).Add(one.job_no.value());
      rows.Add(schedule).Add(outcome);
    };
    for (const JobId& node : NodeJobsOf(one.definition)) add("node", node, 0, "");
    for (const StoredSchedule& schedule : one.schedules) {
      const ScheduleSpec& spec = schedule.spec;
      if (spec.kind != ScheduleKind::kAfter) continue;
      add("after", JobId(spec.upstream), schedule.schedule_id.value(), Name(spec.on));
    }
    AddWaits(one.definition, one.upstream, [&](auto named, uint64_t place, AfterOutcome on) {
      if (named != one.upstream.end()) add("waits", named->first, place, Name(on));
    });
  }
  if (rows.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(const uint64_t since, NewestCompletion(session));
  CARILLON_TRY(session.Execute(insert, {since, rows.Take()}));
  return {};
}

Status DeleteDependencies(Session& session, JobNo job_no) {
  CARILLON_TRY(session.Execute("DELETE FROM job_dependencies WHERE job_no = ?", {job_no.value()}));
  return {};
}

Result<std::set<JobNo>> WithDependents(Session& session, const std::set<JobNo>& jobs) {
  static const std::string statement =
      "SELECT j.job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k "
      "STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = k.n WHERE (j.flags & 1) = 1";
  JsonRows wanted;
  for (const JobNo job_no : jobs) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::set<JobNo> found;
  while (rows.Next()) found.insert(JobNo(rows.Unsigned(1)));
  return found;
}

Result<std::vector<std::string>> SomeDependents(Session& session, JobNo job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT DISTINCT j.name FROM job_dependencies d FORCE INDEX (PRIMARY) "
                    "STRAIGHT_JOIN jobs j ON "
                    "j.job_no = d.job_no WHERE d.kind IN ('after', 'node', 'waits') AND "
                    "d.upstream_job_no = ? AND "
                    "d.job_no <> ? LIMIT 3",
                    {job_no.value(), job_no.value()}));
  std::vector<std::string> names;
  while (rows.Next()) names.push_back(rows.Text(1));
  return names;
}

Result<std::map<JobNo, UpstreamDependents>> ReadDependents(Session& session,
                                                           const std::vector<JobNo>& upstream) {
  static const std::string statement =
      "SELECT d.upstream_job_no, a.job_id, d.job_no, d.schedule_id, d.outcome, d.since_id FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN "
      "job_dependencies d FORCE INDEX (PRIMARY) ON d.kind = 'after' AND d.upstream_job_no = k.n "
      "STRAIGHT_JOIN jobs a FORCE INDEX (PRIMARY) ON a.job_no = d.upstream_job_no";
  std::map<JobNo, UpstreamDependents> found;
  const std::set<JobNo> once(upstream.begin(), upstream.end());
  if (once.empty()) return found;
  JsonRows wanted;
  for (const JobNo job_no : once) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  while (rows.Next()) {
    const auto on = OutcomeOf(rows, 5);
    if (!on.ok()) continue;
    UpstreamDependents& of_job = found[JobNo(rows.Unsigned(1))];
    of_job.upstream = JobId(rows.Text(2));
    of_job.dependents.push_back({.job_no = JobNo(rows.Unsigned(3)),
                                 .schedule_id = ScheduleId(rows.Unsigned(4)),
                                 .on = *on,
                                 .since_id = rows.Unsigned(6)});
  }
  return found;
}

Result<JobDependencies> ReadDependencies(Session& session, const JobId& id) {
  static const std::string before =
      "SELECT a.job_id, a.name, d.outcome, a.deleted, FIELD(d.kind, 'node', 'waits') FROM "
      "job_dependencies d "
      "FORCE INDEX (by_job) "
      "STRAIGHT_JOIN jobs a FORCE INDEX (PRIMARY) ON a.job_no = d.upstream_job_no WHERE d.job_no = "
      "? "
      "ORDER BY a.job_id, FIELD(d.kind, 'node', 'after', 'waits'), d.schedule_id";
  static const std::string after =
      "SELECT b.job_id, b.name, d.outcome, b.deleted, FIELD(d.kind, 'node', 'waits') FROM "
      "job_dependencies d "
      "FORCE "
      "INDEX (PRIMARY) STRAIGHT_JOIN jobs b FORCE INDEX (PRIMARY) ON b.job_no = d.job_no WHERE "
      "d.kind IN ('after', 'node', 'waits') AND "
      "d.upstream_job_no = ? ORDER BY b.job_id, FIELD(d.kind, 'node', 'after', 'waits'), "
      "d.schedule_id";
  static constexpr std::array kKinds{DependencyKind::kAfter, DependencyKind::kNode,
                                     DependencyKind::kWaits};
  uint64_t job_no = 0;
  {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT job_no FROM jobs WHERE job_id = ? AND deleted = 0", {id.value()}));
    if (!rows.Next()) return {ErrorCode::kNotFound, "no job " + id.value()};
    job_no = rows.Unsigned(1);
  }
  const auto read = [&](const std::string& statement) -> Result<std::vector<JobDependency>> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {job_no}));
    std::vector<JobDependency> found;
    while (rows.Next()) {
      found.push_back({.job_id = JobId(rows.Text(1)),
                       .job_name = rows.Text(2),
                       .kind = kKinds.at(static_cast<size_t>(rows.Int(5))),
                       .on = OutcomeOf(rows, 3).value_or(AfterOutcome::kSuccess),
                       .deleted = rows.Int(4) != 0});
    }
    return found;
  };
  JobDependencies dependencies;
  CARILLON_ASSIGN_OR_RETURN(dependencies.upstream, read(before));
  CARILLON_ASSIGN_OR_RETURN(dependencies.downstream, read(after));
  return dependencies;
}

}  // namespace carillon::mysql
