#include "common/adapters/mysql/dependencies/dependency_rows.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {
namespace {

struct UpstreamRow {
  JobNo job_no;
  bool alive = false;
  bool ready = false;  // it is alive and has the flag
};

// Locks the jobs in share mode, in the order of their numbers. Those that were never there
// are absent.
Result<std::map<JobId, UpstreamRow>> LockUpstream(Session& session, const std::vector<JobId>& ids) {
  static const std::string numbers =
      "SELECT j.job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (i VARCHAR(127) CHARACTER SET ascii "
      "COLLATE "
      "ascii_bin PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX (by_job_id) ON j.job_id = k.i";
  static const std::string lock =
      "SELECT j.job_no, j.job_id, j.deleted = 0, j.deleted = 0 AND (j.flags & 1) = 1 FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON "
      "j.job_no = k.n" +
      ForShareOf("j");
  JsonRows wanted;
  for (const JobId& id : ids) wanted.Begin().Add(id.value());
  std::set<uint64_t> found;
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(numbers, {wanted.Take()}));
    while (rows.Next()) found.insert(rows.Unsigned(1));
  }
  std::map<JobId, UpstreamRow> locked;
  if (found.empty()) return locked;
  JsonRows sorted;
  for (const uint64_t job_no : found) sorted.Begin().Add(job_no);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(lock, {sorted.Take()}));
  while (rows.Next()) {
    locked[JobId(rows.Text(2))] = {
        .job_no = JobNo(rows.Unsigned(1)), .alive = rows.Int(3) != 0, .ready = rows.Int(4) != 0};
  }
  return locked;
}

// Causes of runs of these jobs, by job (ReadUpstream): the jobs for which they wait, and the
// workflows of which they are nodes. Without what the definition of `writer` says.
Result<std::multimap<JobNo, JobNo>> UpstreamNumbersOf(Session& session,
                                                      const std::vector<JobNo>& jobs,
                                                      JobNo writer) {
  static const std::string statement =
      "SELECT d.job_no, d.upstream_job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED "
      "PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d FORCE INDEX (by_job) ON d.job_no = k.n AND "
      "d.kind = 'after' AND d.job_no <> ? UNION ALL SELECT d.upstream_job_no, d.job_no FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' "
      "COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d FORCE INDEX "
      "(PRIMARY) ON d.kind = 'node' AND d.upstream_job_no = k.n AND d.job_no <> ?";
  JsonRows wanted;
  for (const JobNo job_no : jobs) wanted.Begin().Add(job_no.value());
  const std::string keys = wanted.Take();
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query(statement, {keys, writer.value(), keys, writer.value()}));
  std::multimap<JobNo, JobNo> found;
  while (rows.Next()) found.emplace(JobNo(rows.Unsigned(1)), JobNo(rows.Unsigned(2)));
  return found;
}

// The jobs that the present version of a job names.
struct NamedJobs {
  std::set<JobNo> awaited = {};
  std::set<JobNo> nodes = {};
};

Result<NamedJobs> NamedBy(Session& session, JobNo job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT upstream_job_no, kind = 'node' FROM job_dependencies FORCE "
                               "INDEX (by_job) WHERE job_no = ?",
                               {job_no.value()}));
  NamedJobs found;
  while (rows.Next())
    (rows.Int(2) != 0 ? found.nodes : found.awaited).insert(JobNo(rows.Unsigned(1)));
  return found;
}

Result<std::vector<std::string>> NamesOf(Session& session, const std::vector<JobNo>& jobs) {
  static const std::string statement =
      "SELECT j.job_no, j.name FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) "
      "k "
      "STRAIGHT_JOIN jobs j FORCE INDEX (PRIMARY) ON j.job_no = k.n";
  JsonRows wanted;
  for (const JobNo job_no : jobs) wanted.Begin().Add(job_no.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  std::map<JobNo, std::string> known;
  while (rows.Next()) known[JobNo(rows.Unsigned(1))] = rows.Text(2);
  std::vector<std::string> names;
  for (const JobNo job_no : jobs) names.push_back(known[job_no]);
  return names;
}

// The number of jobs, other than `job_no`, that wait for the upstream job.
Result<uint64_t> CountOthers(Session& session, JobNo upstream, std::optional<JobNo> job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query(
          "SELECT COUNT(DISTINCT d.job_no) FROM job_dependencies d FORCE INDEX (PRIMARY) WHERE "
          "d.kind = 'after' AND d.upstream_job_no = ? AND d.job_no <> ?",
          {upstream.value(), job_no.value_or(JobNo{}).value()}));
  rows.Next();
  return rows.Unsigned(1);
}

Status LockDependencies(Session& session) {
  if (failpoint::Broken("dependency.no_lock")) return {};
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT next_id FROM id_blocks WHERE name = 'dependency' FOR UPDATE", {}));
  if (rows.Next()) return {};
  return {ErrorCode::kBrokenStore, "dependencies: id_blocks has no row"};
}

// Fails for an outcome of a later version.
Result<AfterOutcome> OutcomeOf(const Rows& rows, uint32_t column) {
  return ParseName<AfterOutcome>(rows.Text(column));
}

// The number of new jobs of the same transaction that wait for each job; their rows are to come.
using Siblings = std::map<JobNo, size_t>;

// The jobs after which a job starts, and those of its nodes.
std::vector<JobId> NamedIn(const JobDefinition& definition) {
  std::vector<JobId> named = UpstreamOf(definition);
  const std::vector<JobId> nodes = NodeJobsOf(definition);
  named.insert(named.end(), nodes.begin(), nodes.end());
  return named;
}

// Checks what a definition names, with the named jobs and the dependencies locked.
struct UpstreamCheck {
  Session& session;
  const JobId& id;
  std::optional<JobNo> job_no;
  const JobDefinition& definition;
  Siblings siblings;
  const std::map<JobId, UpstreamRow>& locked;
  NamedJobs before = {};                   // these may be gone
  std::multimap<JobNo, JobNo> fresh = {};  // what the definition itself says (ReadUpstream)

  JobNo self() const { return job_no.value_or(JobNo{}); }

  // The jobs of a cycle that would arise if `job` waited for `upstream`, by name. The rows of the
  // job that is written are replaced by what its new definition says.
  Result<std::vector<std::string>> Cycle(JobNo job, JobNo upstream) const {
    const auto read = [&](const std::vector<JobNo>& jobs) -> Result<std::multimap<JobNo, JobNo>> {
      CARILLON_ASSIGN_OR_RETURN(auto found, UpstreamNumbersOf(session, jobs, self()));
      for (const JobNo one : jobs) {
        const auto [first, last] = fresh.equal_range(one);
        found.insert(first, last);
      }
      return found;
    };
    CARILLON_ASSIGN_OR_RETURN(const std::vector<JobNo> cycle, FindCycle(job, upstream, read));
    if (cycle.empty()) return std::vector<std::string>();
    CARILLON_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesOf(session, cycle));
    for (size_t i = 0; i < cycle.size(); ++i) {
      if (cycle[i] == self()) names[i] = definition.name;
    }
    return names;
  }

  Result<UpstreamNumbers> All() {
    UpstreamNumbers numbers;
    CARILLON_TRY(Schedules(&numbers));
    CARILLON_TRY(Nodes(NodeJobsOf(definition), &numbers));
    return numbers;
  }

  Status Schedules(UpstreamNumbers* numbers) {
    for (size_t i = 0; i < definition.schedules.size(); ++i) {
      const ScheduleSpec& spec = definition.schedules[i];
      if (spec.kind != ScheduleKind::kAfter) continue;
      const JobId named(spec.upstream);
      if (named == id) return DependencyCycle(i, {definition.name, definition.name});
      const auto found = locked.find(named);
      if (found == locked.end()) return UnknownUpstream(i, named);
      const JobNo number = found->second.job_no;
      const bool stays = !found->second.ready && before.awaited.contains(number);
      if (!found->second.ready && !stays) return UnknownUpstream(i, named);
      if (!numbers->emplace(named, number).second || stays) continue;
      CARILLON_ASSIGN_OR_RETURN(const uint64_t others, CountOthers(session, number, job_no));
      const auto sibling = siblings.find(number);
      const size_t more = sibling == siblings.end() ? 0 : sibling->second;
      if (others + more >= kDependentsMax) return TooManyDependents(i, named);
      fresh.emplace(self(), number);
      if (!job_no) continue;  // nothing waits for a new job
      CARILLON_ASSIGN_OR_RETURN(const auto names, Cycle(*job_no, number));
      if (!names.empty()) return DependencyCycle(i, names);
    }
    return {};
  }

  Status Nodes(const std::vector<JobId>& nodes, UpstreamNumbers* numbers) {
    for (const JobId& named : nodes) {
      if (named == id) return NodeCycle(definition, named, {definition.name, definition.name});
      const auto found = locked.find(named);
      if (found == locked.end()) return UnknownNodeJob(definition, named);
      const JobNo number = found->second.job_no;
      if (!found->second.alive && !before.nodes.contains(number))
        return UnknownNodeJob(definition, named);
      numbers->emplace(named, number);
      CARILLON_ASSIGN_OR_RETURN(const auto names, Cycle(number, self()));
      if (!names.empty()) return NodeCycle(definition, named, names);
      fresh.emplace(number, self());
    }
    return {};
  }
};

}  // namespace

Result<UpstreamNumbers> CheckUpstream(Session& session, const JobId& id,
                                      std::optional<JobNo> job_no,
                                      const JobDefinition& definition) {
  const std::vector<JobId> named = NamedIn(definition);
  if (named.empty()) return UpstreamNumbers();
  CARILLON_TRY(LockDependencies(session));
  CARILLON_ASSIGN_OR_RETURN(const auto locked, LockUpstream(session, named));
  UpstreamCheck check{.session = session,
                      .id = id,
                      .job_no = job_no,
                      .definition = definition,
                      .siblings = {},
                      .locked = locked};
  if (job_no) {
    CARILLON_ASSIGN_OR_RETURN(check.before, NamedBy(session, *job_no));
  }
  return check.All();
}

Result<std::vector<UpstreamNumbers>> CheckUpstreamOfNew(Session& session, const NewJobs& jobs) {
  std::set<JobId> named;
  for (const NewJob& job : jobs) {
    const std::vector<JobId> of_job = NamedIn(job.definition);
    named.insert(of_job.begin(), of_job.end());
  }
  std::vector<UpstreamNumbers> upstream(jobs.size());
  if (named.empty()) return upstream;
  CARILLON_TRY(LockDependencies(session));
  CARILLON_ASSIGN_OR_RETURN(const auto locked, LockUpstream(session, {named.begin(), named.end()}));
  Siblings siblings;
  for (size_t i = 0; i < jobs.size(); ++i) {
    UpstreamCheck check{.session = session,
                        .id = jobs[i].job_id,
                        .job_no = std::nullopt,
                        .definition = jobs[i].definition,
                        .siblings = siblings,
                        .locked = locked};
    CARILLON_ASSIGN_OR_RETURN(upstream[i], check.All());
    for (const auto& [id, number] : upstream[i]) ++siblings[number];
  }
  return upstream;
}

namespace {

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
      "since_id) SELECT k.d, k.u, k.j, k.s, k.o, IF(k.s = 0, 0, ?) FROM JSON_TABLE(" CARILLON_JSON
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
      session.Query(
          "SELECT DISTINCT j.name FROM job_dependencies d FORCE INDEX (PRIMARY) "
          "STRAIGHT_JOIN jobs j ON "
          "j.job_no = d.job_no WHERE d.kind IN ('after', 'node') AND d.upstream_job_no = ? AND "
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
      "SELECT a.job_id, a.name, d.outcome, a.deleted, d.kind = 'node' FROM job_dependencies d "
      "FORCE INDEX (by_job) "
      "STRAIGHT_JOIN jobs a FORCE INDEX (PRIMARY) ON a.job_no = d.upstream_job_no WHERE d.job_no = "
      "? "
      "ORDER BY a.job_id, d.schedule_id";
  static const std::string after =
      "SELECT b.job_id, b.name, d.outcome, b.deleted, d.kind = 'node' FROM job_dependencies d "
      "FORCE "
      "INDEX (PRIMARY) STRAIGHT_JOIN jobs b FORCE INDEX (PRIMARY) ON b.job_no = d.job_no WHERE "
      "d.kind IN ('after', 'node') AND "
      "d.upstream_job_no = ? ORDER BY b.job_id, d.schedule_id";
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
                       .kind = rows.Int(5) != 0 ? DependencyKind::kNode : DependencyKind::kAfter,
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
