#include "common/adapters/mysql/dependencies/upstream_check.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/base/failpoint.h"
#include "common/domain/run/dependents.h"
#include "common/domain/upstream/deadlock.h"

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
      "d.kind IN ('after', 'waits') AND d.job_no <> ? UNION ALL SELECT d.upstream_job_no, d.job_no "
      "FROM "
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

// A wait's workflow comes after its job (dependency_rows.cc).
void AddLink(JobLinks& links, const Rows& rows) {
  const JobNo named(rows.Unsigned(2));
  const uint64_t place = rows.Unsigned(4);
  switch (rows.Int(3)) {
    case 1: links.nodes.insert(named); break;
    case 2:
      if (place % 2 == 0) {
        links.waits.push_back({.job = named});
      } else if (!links.waits.empty()) {
        links.waits.back().in = named;
      }
      break;
    default:
      if (rows.Text(5) != Name(AfterOutcome::kFailure)) links.before.insert(named);
  }
}

// Implements ReadLinks. Without what the definition of `writer` says.
Result<std::vector<JobLinks>> ReadLinksOf(Session& session, const std::vector<JobNo>& jobs,
                                          JobNo writer) {
  static const std::string named =
      "SELECT d.job_no, d.upstream_job_no, FIELD(d.kind, 'node', 'waits'), d.schedule_id, "
      "d.outcome FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d FORCE "
      "INDEX (by_job) ON d.job_no = k.n AND d.job_no <> ? ORDER BY d.job_no, d.schedule_id";
  static const std::string workflows =
      "SELECT d.upstream_job_no, d.job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d FORCE "
      "INDEX (PRIMARY) ON d.kind = 'node' AND d.upstream_job_no = k.n AND d.job_no <> ?";
  static const std::string times =
      "SELECT DISTINCT s.job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = k.n AND j.deleted = 0 STRAIGHT_JOIN job_schedules s FORCE INDEX "
      "(by_job) ON s.job_no = k.n AND s.kind <> 'after'";
  JsonRows wanted;
  std::map<JobNo, JobLinks> found;
  for (const JobNo job_no : jobs) {
    wanted.Begin().Add(job_no.value());
    found[job_no].job_no = job_no;
  }
  const std::string keys = wanted.Take();
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(named, {keys, writer.value()}));
    while (rows.Next()) AddLink(found[JobNo(rows.Unsigned(1))], rows);
  }
  {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(workflows, {keys, writer.value()}));
    while (rows.Next()) {
      found[JobNo(rows.Unsigned(1))].workflows.insert(JobNo(rows.Unsigned(2)));
    }
  }
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(times, {keys}));
  while (rows.Next()) found[JobNo(rows.Unsigned(1))].has_times = true;
  std::vector<JobLinks> links;
  for (auto& [job_no, one] : found) links.push_back(std::move(one));
  return links;
}

// True if runs of any job wait for runs of others.
Result<bool> AnyWaits(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows,
                            session.Query("SELECT 1 FROM job_dependencies FORCE INDEX (PRIMARY) "
                                          "WHERE kind = 'waits' LIMIT 1",
                                          {}));
  return rows.Next();
}

// The jobs that the present version of a job names.
struct NamedJobs {
  std::set<JobNo> upstream = {};
  std::set<JobNo> nodes = {};
  std::set<JobNo> awaited = {};  // by `waits_for`
};

Result<NamedJobs> NamedBy(Session& session, JobNo job_no) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT upstream_job_no, FIELD(kind, 'node', 'waits') FROM "
                               "job_dependencies FORCE INDEX (by_job) WHERE job_no = ?",
                               {job_no.value()}));
  NamedJobs found;
  const std::array sets{&found.upstream, &found.nodes, &found.awaited};
  while (rows.Next()) sets.at(static_cast<size_t>(rows.Int(2)))->insert(JobNo(rows.Unsigned(1)));
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

// The number of new jobs of the same transaction that wait for each job; their rows are to come.
using Siblings = std::map<JobNo, size_t>;

// The jobs after which a job starts, those of its nodes, and those for which its runs wait.
std::vector<JobId> NamedIn(const JobDefinition& definition) {
  std::vector<JobId> named = UpstreamOf(definition);
  const std::vector<JobId> nodes = NodeJobsOf(definition);
  named.insert(named.end(), nodes.begin(), nodes.end());
  const std::vector<JobId> awaited = WaitedJobsOf(definition);
  named.insert(named.end(), awaited.begin(), awaited.end());
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
    return NamesOfCycle(cycle);
  }

  Result<std::vector<std::string>> NamesOfCycle(const std::vector<JobNo>& cycle) const {
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
    for (size_t i = 0; i < definition.waits_for.size(); ++i) {
      const UpstreamWait& wait = definition.waits_for[i];
      CARILLON_TRY(Awaited(i, false, wait.job, &numbers));
      if (!wait.in.empty()) CARILLON_TRY(Awaited(i, true, wait.in, &numbers));
    }
    CARILLON_TRY(Deadlocks(numbers));
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
      const bool stays = !found->second.ready && before.upstream.contains(number);
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

  // Of an entry of `waits_for`.
  Status Awaited(size_t entry, bool in, const JobId& named, UpstreamNumbers* numbers) {
    if (named == id) return AwaitCycle(entry, in, {definition.name, definition.name});
    const auto found = locked.find(named);
    if (found == locked.end()) return UnknownAwaited(entry, in, named);
    const JobNo number = found->second.job_no;
    if (!found->second.alive && !before.awaited.contains(number)) {
      return UnknownAwaited(entry, in, named);
    }
    numbers->emplace(named, number);
    fresh.emplace(self(), number);
    // Also of a new job: its nodes may lead to what it waits for.
    CARILLON_ASSIGN_OR_RETURN(const auto names, Cycle(self(), number));
    return names.empty() ? Status() : Status(AwaitCycle(entry, in, names));
  }

  Status Deadlocks(const UpstreamNumbers& numbers) const {
    if (!WaitsForOthers(definition)) {
      CARILLON_ASSIGN_OR_RETURN(const bool any, AnyWaits(session));
      if (!any) return {};
    }
    const JobLinks links =
        LinksOf(self(), definition, [&](const JobId& named) { return numbers.at(named); });
    CARILLON_ASSIGN_OR_RETURN(const auto found,
                              FindDeadlock(links, [&](const std::vector<JobNo>& jobs) {
                                return ReadLinksOf(session, jobs, self());
                              }));
    if (!found) return {};
    CARILLON_ASSIGN_OR_RETURN(const auto names, NamesOfCycle(found->jobs));
    const auto named = std::find_if(numbers.begin(), numbers.end(),
                                    [&](const auto& one) { return one.second == found->named; });
    return DeadlockError(definition, *found, named->first, names);
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
    for (const JobId& id : UpstreamOf(jobs[i].definition)) ++siblings[upstream[i].at(id)];
  }
  return upstream;
}

}  // namespace carillon::mysql
