#include "common/adapters/mysql/upstream/source_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/domain/backfill/backfill.h"

namespace carillon::mysql {
namespace {

struct NamedJob {
  JobNo job_no;
  std::string name;
  bool deleted = false;
};
using NamedJobs = std::map<JobId, NamedJob>;

Result<NamedJobs> ReadNamedJobs(Session& session, const std::vector<UpstreamTarget>& targets) {
  static const std::string statement =
      "SELECT j.job_no, j.job_id, j.name, j.deleted FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (i VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin PATH '$[0]')) k "
      "STRAIGHT_JOIN jobs j FORCE INDEX (by_job_id) ON j.job_id = k.i";
  std::set<JobId> ids;
  for (const UpstreamTarget& target : targets) {
    ids.insert(target.job);
    if (!target.in.empty()) ids.insert(target.in);
  }
  JsonRows wanted;
  for (const JobId& id : ids) wanted.Begin().Add(id.value());
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {wanted.Take()}));
  NamedJobs found;
  while (rows.Next()) {
    found[JobId(rows.Text(2))] = {
        .job_no = JobNo(rows.Unsigned(1)), .name = rows.Text(3), .deleted = rows.Int(4) != 0};
  }
  return found;
}

std::string NumbersOf(const std::set<JobNo>& jobs) {
  JsonRows wanted;
  for (const JobNo job_no : jobs) wanted.Begin().Add(job_no.value());
  return wanted.Take();
}

// Workflows and jobs of their nodes, of these workflows.
Result<std::set<std::pair<JobNo, JobNo>>> ReadNodesOf(Session& session,
                                                      const std::set<JobNo>& workflows) {
  static const std::string statement =
      "SELECT d.job_no, d.upstream_job_no FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d "
      "FORCE INDEX (by_job) ON d.job_no = k.n AND d.kind = 'node'";
  std::set<std::pair<JobNo, JobNo>> nodes;
  if (workflows.empty()) return nodes;
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {NumbersOf(workflows)}));
  while (rows.Next()) nodes.emplace(JobNo(rows.Unsigned(1)), JobNo(rows.Unsigned(2)));
  return nodes;
}

using SchedulesByJob = std::map<JobNo, std::vector<SourceSchedule>>;

// A schedule whose kind this version does not know counts as one of time: it may make fires. One
// that waits for ends of runs or for events does not.
Status ReadSchedulesOf(Session& session, const std::set<JobNo>& jobs, SchedulesByJob* found) {
  static const std::string statement =
      "SELECT s.job_no, s.schedule_id, IF(j.enabled, s.next_fire_us, s.resume_from_us), j.enabled, "
      "s.awaited_us FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = k.n AND j.deleted = 0 STRAIGHT_JOIN job_schedules s FORCE INDEX "
      "(by_job) ON s.job_no = k.n AND s.kind NOT IN ('after', 'event')";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {NumbersOf(jobs)}));
  while (rows.Next()) {
    SourceSchedule schedule{.job_no = JobNo(rows.Unsigned(1)),
                            .id = ScheduleId(rows.Unsigned(2)),
                            .next = rows.Time(3),
                            .paused = rows.Int(4) == 0};
    const WallTime awaited = rows.Time(5);
    if (awaited != WallTime{}) schedule.next = awaited + 1us;
    (*found)[schedule.job_no].push_back(schedule);
  }
  return {};
}

struct CausesOfJob {
  std::vector<JobNo> before;
  std::vector<JobNo> by_end;  // those that are no workflows of it
};
using CausesByJob = std::map<JobNo, CausesOfJob>;

Status ReadJobsBefore(Session& session, const std::set<JobNo>& jobs, CausesByJob* found) {
  static const std::string statement =
      "SELECT d.job_no, d.upstream_job_no, 1 FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d FORCE "
      "INDEX (by_job) ON d.job_no = k.n AND d.kind = 'after' AND d.outcome <> 'failure' UNION ALL "
      "SELECT d.upstream_job_no, d.job_no, 0 FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN job_dependencies d FORCE "
      "INDEX (PRIMARY) ON d.kind = 'node' AND d.upstream_job_no = k.n";
  const std::string numbers = NumbersOf(jobs);
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {numbers, numbers}));
  while (rows.Next()) {
    CausesOfJob& causes = (*found)[JobNo(rows.Unsigned(1))];
    causes.before.emplace_back(rows.Unsigned(2));
    if (rows.Int(3) != 0) causes.by_end.emplace_back(rows.Unsigned(2));
  }
  return {};
}

// The causes of the runs of jobs, read once for all targets.
struct Causes {
  SchedulesByJob schedules;
  CausesByJob before;

  std::vector<JobCauses> Of(const std::vector<JobNo>& jobs) const {
    std::vector<JobCauses> found;
    for (const JobNo job_no : jobs) {
      JobCauses one{.job_no = job_no, .has_times = schedules.contains(job_no)};
      if (const auto causes = before.find(job_no); causes != before.end()) {
        one.before = causes->second.before;
        one.by_end = causes->second.by_end;
      }
      found.push_back(std::move(one));
    }
    return found;
  }
};

// From these jobs up to those with schedules of time, one level at a time. A chain that is too long
// for a target is not followed to its end.
Result<Causes> ReadCausesOf(Session& session, const std::set<JobNo>& starts) {
  Causes causes;
  std::set<JobNo> known = starts;
  std::set<JobNo> level = starts;
  for (size_t depth = 0; depth <= kSourceJobsMax + 1 && !level.empty(); ++depth) {
    CARILLON_TRY(ReadSchedulesOf(session, level, &causes.schedules));
    std::erase_if(level, [&](JobNo job_no) { return causes.schedules.contains(job_no); });
    if (level.empty()) break;
    CARILLON_TRY(ReadJobsBefore(session, level, &causes.before));
    std::set<JobNo> next;
    for (const JobNo job_no : level) {
      for (const JobNo before : causes.before[job_no].before) {
        if (known.insert(before).second) next.insert(before);
      }
    }
    level = std::move(next);
  }
  return causes;
}

// Adds the open backfills of the sources' jobs. A job has one at most.
Status AddBackfills(Session& session, std::vector<UpstreamSources>* all) {
  static const std::string statement =
      "SELECT b.job_no, b.backfill_no, b.from_us, b.to_us, b.descending, b.cursor_us FROM "
      "JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH '$[0]')) k STRAIGHT_JOIN jobs j FORCE INDEX "
      "(PRIMARY) ON j.job_no = k.n AND j.deleted = 0 STRAIGHT_JOIN backfills b FORCE INDEX "
      "(by_job) ON b.job_no = k.n AND b.state IN ('RUNNING', 'PAUSED') ORDER BY b.backfill_no";
  std::set<JobNo> jobs;
  for (const UpstreamSources& one : *all) jobs.insert(one.jobs.begin(), one.jobs.end());
  if (jobs.empty()) return {};
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {NumbersOf(jobs)}));
  while (rows.Next()) {
    const JobNo job_no(rows.Unsigned(1));
    const auto order = rows.Int(5) != 0 ? BackfillOrder::kDescending : BackfillOrder::kAscending;
    const BackfillSpan left = SpanLeft(rows.Time(3), rows.Time(4), order, rows.Time(6));
    if (left.from >= left.until) continue;
    for (UpstreamSources& one : *all) {
      if (!std::ranges::binary_search(one.jobs, job_no)) continue;
      one.backfills.push_back({rows.Unsigned(2), job_no, left.from, left.until});
    }
  }
  return {};
}

// Without jobs and schedules.
UpstreamSources HeadOf(const UpstreamTarget& target, const NamedJobs& named,
                       const std::set<std::pair<JobNo, JobNo>>& nodes) {
  UpstreamSources found;
  const auto job = named.find(target.job);
  if (job != named.end()) {
    found.job_no = job->second.job_no;
    found.job_name = job->second.name;
    found.deleted = job->second.deleted;
  }
  if (target.in.empty()) return found;
  const auto in = named.find(target.in);
  if (in == named.end()) return found;
  found.in_no = in->second.job_no;
  found.deleted = found.deleted || in->second.deleted;
  found.not_a_node = !nodes.contains({found.in_no, found.job_no});
  return found;
}

// The job whose causes are looked for; 0 = none, because the target can have no fires.
JobNo StartOf(const UpstreamTarget& target, const UpstreamSources& found) {
  const bool usable = found.job_no != JobNo{} && !found.deleted && !found.not_a_node;
  if (!usable) return {};
  return target.in.empty() ? found.job_no : found.in_no;
}

}  // namespace

Result<std::vector<UpstreamSources>> ReadSourcesOf(Session& session,
                                                   const std::vector<UpstreamTarget>& targets) {
  CARILLON_ASSIGN_OR_RETURN(const NamedJobs named, ReadNamedJobs(session, targets));
  std::set<JobNo> workflows;
  for (const UpstreamTarget& target : targets) {
    const auto in = target.in.empty() ? named.end() : named.find(target.in);
    if (in != named.end()) workflows.insert(in->second.job_no);
  }
  CARILLON_ASSIGN_OR_RETURN(const auto nodes, ReadNodesOf(session, workflows));
  std::vector<UpstreamSources> all;
  std::set<JobNo> starts;
  for (const UpstreamTarget& target : targets) {
    all.push_back(HeadOf(target, named, nodes));
    if (const JobNo start = StartOf(target, all.back()); start != JobNo{}) starts.insert(start);
  }
  CARILLON_ASSIGN_OR_RETURN(const Causes causes, ReadCausesOf(session, starts));
  const auto read = [&](const std::vector<JobNo>& jobs) -> Result<std::vector<JobCauses>> {
    return causes.Of(jobs);
  };
  for (size_t i = 0; i < targets.size(); ++i) {
    UpstreamSources& found = all[i];
    const JobNo start = StartOf(targets[i], found);
    if (start == JobNo{}) continue;
    CARILLON_TRY(FindSources(start, read, &found));
    if (found.too_many) found.jobs.clear();
    for (const JobNo job_no : found.jobs) {
      const auto of_job = causes.schedules.find(job_no);
      if (of_job == causes.schedules.end()) continue;
      found.schedules.insert(found.schedules.end(), of_job->second.begin(), of_job->second.end());
    }
    std::sort(found.schedules.begin(), found.schedules.end(),
              [](const SourceSchedule& a, const SourceSchedule& b) { return a.id < b.id; });
  }
  CARILLON_TRY(AddBackfills(session, &all));
  return all;
}

}  // namespace carillon::mysql
