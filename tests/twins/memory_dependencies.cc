#include "tests/twins/memory_dependencies.h"

#include <algorithm>
#include <utility>

#include "common/domain/upstream/deadlock.h"

namespace carillon::memory {
namespace {

// Causes of runs of these jobs (ReadUpstream). Without what the definition of `writer` says.
std::multimap<JobNo, JobNo> UpstreamNumbersOf(const MemoryTables& tables,
                                              const std::vector<JobNo>& jobs, JobNo writer)
    REQUIRES(tables.mu) {
  const std::set<JobNo> wanted(jobs.begin(), jobs.end());
  std::multimap<JobNo, JobNo> found;
  for (const auto& [schedule, entry] : tables.dependencies) {
    const JobNo job_no = entry.dependent.job_no;
    if (job_no != writer && wanted.contains(job_no)) found.emplace(job_no, entry.upstream);
  }
  for (const auto& [workflow, nodes] : tables.node_jobs) {
    if (workflow == writer) continue;
    for (const JobNo node : nodes) {
      if (wanted.contains(node)) found.emplace(node, workflow);
    }
  }
  for (const auto& [job_no, waits] : tables.waited_jobs) {
    if (job_no == writer || !wanted.contains(job_no)) continue;
    for (const WaitedJob& wait : waits) found.emplace(job_no, wait.job_no);
  }
  return found;
}

// The dependencies of a definition that is being checked.
struct FreshDependencies {
  JobNo self;  // 0: the job does not exist yet
  const JobDefinition& definition;
  std::multimap<JobNo, JobNo> rows = {};
};

std::vector<std::string> NamesOf(MemoryTables& tables, const FreshDependencies& fresh,
                                 const std::vector<JobNo>& cycle) REQUIRES(tables.mu) {
  std::vector<std::string> names;
  for (const JobNo one : cycle) {
    names.push_back(one == fresh.self ? fresh.definition.name
                                      : tables.FindJob(one)->definition.name);
  }
  return names;
}

// The names of a cycle that would arise if `job` waited for `upstream`.
Result<std::vector<std::string>> CycleWith(MemoryTables& tables, const FreshDependencies& fresh,
                                           JobNo job, JobNo upstream) REQUIRES(tables.mu) {
  const auto read = [&](const std::vector<JobNo>& jobs)
                        REQUIRES(tables.mu) -> Result<std::multimap<JobNo, JobNo>> {
    auto found = UpstreamNumbersOf(tables, jobs, fresh.self);
    for (const JobNo one : jobs) {
      const auto [first, last] = fresh.rows.equal_range(one);
      found.insert(first, last);
    }
    return found;
  };
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobNo> cycle, FindCycle(job, upstream, read));
  return NamesOf(tables, fresh, cycle);
}

size_t CountOthers(const MemoryTables& tables, JobNo upstream, const JobEntry* job)
    REQUIRES(tables.mu) {
  std::set<JobNo> others;
  for (const auto& [schedule, entry] : tables.dependencies) {
    if (entry.upstream == upstream) others.insert(entry.dependent.job_no);
  }
  if (job != nullptr) others.erase(job->job_no);
  return others.size();
}

bool WaitsFor(const MemoryTables& tables, const JobEntry& job, JobNo upstream) REQUIRES(tables.mu) {
  return std::any_of(tables.dependencies.begin(), tables.dependencies.end(), [&](const auto& one) {
    return one.second.dependent.job_no == job.job_no && one.second.upstream == upstream;
  });
}

Status CheckOne(MemoryTables& tables, const JobEntry* job, size_t schedule,
                FreshDependencies& fresh, size_t siblings) REQUIRES(tables.mu) {
  const JobId named(fresh.definition.schedules[schedule].upstream);
  const JobEntry* upstream = tables.FindJob(named);
  if (upstream == nullptr) return UnknownUpstream(schedule, named);
  if (upstream->deleted) {
    // A job for which this one waits already may be deleted.
    const bool stays = job != nullptr && WaitsFor(tables, *job, upstream->job_no);
    return stays ? Status() : UnknownUpstream(schedule, named);
  }
  if (CountOthers(tables, upstream->job_no, job) + siblings >= kDependentsMax) {
    return TooManyDependents(schedule, named);
  }
  fresh.rows.emplace(fresh.self, upstream->job_no);
  if (job == nullptr) return {};  // nothing waits for a new job
  CARILLON_ASSIGN_OR_RETURN(const auto names,
                            CycleWith(tables, fresh, job->job_no, upstream->job_no));
  if (names.empty()) return {};
  return DependencyCycle(schedule, names);
}

Status CheckNodeJobs(MemoryTables& tables, const JobId& id, FreshDependencies& fresh)
    REQUIRES(tables.mu) {
  const JobDefinition& definition = fresh.definition;
  for (const JobId& named : NodeJobsOf(definition)) {
    if (named == id) return NodeCycle(definition, named, {definition.name, definition.name});
    const JobEntry* node = tables.FindJob(named);
    if (node == nullptr) return UnknownNodeJob(definition, named);
    const auto before = tables.node_jobs.find(fresh.self);
    const bool stays = before != tables.node_jobs.end() && before->second.contains(node->job_no);
    if (node->deleted && !stays) return UnknownNodeJob(definition, named);
    CARILLON_ASSIGN_OR_RETURN(const auto names, CycleWith(tables, fresh, node->job_no, fresh.self));
    if (!names.empty()) return NodeCycle(definition, named, names);
    fresh.rows.emplace(node->job_no, fresh.self);
  }
  return {};
}

bool Names(const std::vector<WaitedJob>& waits, JobNo job_no) {
  return std::any_of(waits.begin(), waits.end(),
                     [&](const WaitedJob& wait) { return wait.job_no == job_no; });
}

// Of an entry of `waits_for`.
Status CheckAwaited(MemoryTables& tables, const JobId& id, size_t entry, bool in,
                    FreshDependencies& fresh) REQUIRES(tables.mu) {
  const UpstreamWait& wait = fresh.definition.waits_for[entry];
  const JobId& named = in ? wait.in : wait.job;
  if (named == id) {
    return AwaitCycle(entry, in, {fresh.definition.name, fresh.definition.name});
  }
  const JobEntry* upstream = tables.FindJob(named);
  if (upstream == nullptr) return UnknownAwaited(entry, in, named);
  const auto before = tables.waited_jobs.find(fresh.self);
  const bool stays = before != tables.waited_jobs.end() && Names(before->second, upstream->job_no);
  if (upstream->deleted && !stays) return UnknownAwaited(entry, in, named);
  fresh.rows.emplace(fresh.self, upstream->job_no);
  // Also of a new job: its nodes may lead to what it waits for.
  CARILLON_ASSIGN_OR_RETURN(const auto names,
                            CycleWith(tables, fresh, fresh.self, upstream->job_no));
  return names.empty() ? Status() : Status(AwaitCycle(entry, in, names));
}

bool MakesFires(const ScheduleEntry& schedule) {
  return !schedule.readable || schedule.spec.kind != ScheduleKind::kAfter;
}

// Without what the definition of `writer` says.
JobLinks LinksOf(MemoryTables& tables, JobNo job_no, JobNo writer) REQUIRES(tables.mu) {
  JobLinks links{.job_no = job_no};
  if (const JobEntry* job = tables.FindJob(job_no); job != nullptr && !job->deleted) {
    for (const ScheduleId id : job->schedules) {
      links.has_times |= MakesFires(*tables.FindSchedule(id));
    }
  }
  for (const auto& [workflow, nodes] : tables.node_jobs) {
    if (workflow == writer) continue;
    if (workflow == job_no) links.nodes = nodes;
    if (nodes.contains(job_no)) links.workflows.insert(workflow);
  }
  if (job_no == writer) return links;
  for (const auto& [schedule, entry] : tables.dependencies) {
    const Dependent& dependent = entry.dependent;
    if (dependent.job_no != job_no || dependent.on == AfterOutcome::kFailure) continue;
    links.before.insert(entry.upstream);
  }
  const auto waits = tables.waited_jobs.find(job_no);
  if (waits == tables.waited_jobs.end()) return links;
  for (const WaitedJob& wait : waits->second) {
    if (wait.is_workflow) {
      links.waits.back().in = wait.job_no;
    } else {
      links.waits.push_back({.job = wait.job_no});
    }
  }
  return links;
}

Status CheckDeadlocks(MemoryTables& tables, const FreshDependencies& fresh) REQUIRES(tables.mu) {
  if (!WaitsForOthers(fresh.definition) && tables.waited_jobs.empty()) return {};
  const auto number = [&](const JobId& named)
                          REQUIRES(tables.mu) { return tables.FindJob(named)->job_no; };
  const JobLinks links = carillon::LinksOf(fresh.self, fresh.definition, number);
  const auto read = [&](const std::vector<JobNo>& jobs)
                        REQUIRES(tables.mu) -> Result<std::vector<JobLinks>> {
    std::vector<JobLinks> found;
    for (const JobNo job_no : jobs) found.push_back(LinksOf(tables, job_no, fresh.self));
    return found;
  };
  CARILLON_ASSIGN_OR_RETURN(const auto found, FindDeadlock(links, read));
  if (!found) return {};
  return DeadlockError(fresh.definition, *found, tables.FindJob(found->named)->id,
                       NamesOf(tables, fresh, found->jobs));
}

JobDependency NodeLinkTo(MemoryTables& tables, JobNo job_no) REQUIRES(tables.mu) {
  const JobEntry& job = *tables.FindJob(job_no);
  return {.job_id = job.id,
          .job_name = job.definition.name,
          .kind = DependencyKind::kNode,
          .deleted = job.deleted};
}

JobDependency LinkTo(MemoryTables& tables, JobNo job_no, AfterOutcome on,
                     DependencyKind kind = DependencyKind::kAfter) REQUIRES(tables.mu) {
  const JobEntry& job = *tables.FindJob(job_no);
  return {.job_id = job.id,
          .job_name = job.definition.name,
          .kind = kind,
          .on = on,
          .deleted = job.deleted};
}

// Their order in a list of dependencies.
int RankOf(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::kNode: return 0;
    case DependencyKind::kAfter: return 1;
    case DependencyKind::kWaits: break;
  }
  return 2;
}

}  // namespace

Status CheckUpstream(MemoryTables& tables, const JobId& id, const JobEntry* job,
                     const JobDefinition& definition, const std::map<JobId, size_t>& siblings) {
  FreshDependencies fresh{.self = job == nullptr ? JobNo{} : job->job_no, .definition = definition};
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    if (definition.schedules[i].kind != ScheduleKind::kAfter) continue;
    if (definition.schedules[i].upstream == id.value()) {
      return DependencyCycle(i, {definition.name, definition.name});
    }
    const auto sibling = siblings.find(JobId(definition.schedules[i].upstream));
    CARILLON_TRY(CheckOne(tables, job, i, fresh, sibling == siblings.end() ? 0 : sibling->second));
  }
  CARILLON_TRY(CheckNodeJobs(tables, id, fresh));
  for (size_t i = 0; i < definition.waits_for.size(); ++i) {
    CARILLON_TRY(CheckAwaited(tables, id, i, false, fresh));
    if (definition.waits_for[i].in.empty()) continue;
    CARILLON_TRY(CheckAwaited(tables, id, i, true, fresh));
  }
  return CheckDeadlocks(tables, fresh);
}

void RaiseFlags(MemoryTables& tables, const JobDefinition& definition) {
  for (const JobId& id : UpstreamOf(definition)) {
    JobEntry* job = tables.FindJob(id);
    if (job == nullptr || job->deleted || job->has_dependents) continue;
    job->has_dependents = true;
    for (const ScheduleId schedule_id : job->schedules) {
      ScheduleEntry schedule = *tables.FindSchedule(schedule_id);
      ++schedule.version;
      tables.PutSchedule(std::move(schedule));
    }
    for (const RunKey& key : std::set<RunKey>(job->open)) {
      RunEntry entry = *tables.FindRun(key);
      entry.row.flags |= EndFlags(entry.row.kind, entry.row.flags, true);
      tables.PutRun(std::move(entry));
    }
  }
}

// Keeps those of schedules that stay: ends that are older than them start nothing.
void PutDependencies(MemoryTables& tables, const JobEntry& job) {
  tables.node_jobs.erase(job.job_no);
  for (const JobId& node : NodeJobsOf(job.definition)) {
    tables.node_jobs[job.job_no].insert(tables.FindJob(node)->job_no);
  }
  tables.waited_jobs.erase(job.job_no);
  for (const UpstreamWait& wait : job.definition.waits_for) {
    std::vector<WaitedJob>& waited = tables.waited_jobs[job.job_no];
    waited.push_back({.job_no = tables.FindJob(wait.job)->job_no, .on = wait.on});
    if (wait.in.empty()) continue;
    waited.push_back(
        {.job_no = tables.FindJob(wait.in)->job_no, .on = wait.on, .is_workflow = true});
  }
  const auto& schedules = job.schedules;
  std::erase_if(tables.dependencies, [&](const auto& entry) {
    return entry.second.dependent.job_no == job.job_no &&
           std::find(schedules.begin(), schedules.end(), entry.first) == schedules.end();
  });
  const uint64_t newest = tables.completions.empty() ? 0 : tables.completions.rbegin()->first;
  for (const ScheduleId id : schedules) {
    const ScheduleSpec& spec = tables.FindSchedule(id)->spec;
    if (spec.kind != ScheduleKind::kAfter || tables.dependencies.contains(id)) continue;
    tables.dependencies[id] = {
        .upstream = tables.FindJob(JobId(spec.upstream))->job_no,
        .dependent = {.job_no = job.job_no, .schedule_id = id, .on = spec.on, .since_id = newest}};
  }
}

void EraseDependencies(MemoryTables& tables, const JobEntry& job) {
  tables.node_jobs.erase(job.job_no);
  tables.waited_jobs.erase(job.job_no);
  std::erase_if(tables.dependencies,
                [&](const auto& entry) { return entry.second.dependent.job_no == job.job_no; });
}

Status CheckNotAwaited(const MemoryTables& tables, const JobEntry& job) {
  for (const auto& [workflow, nodes] : tables.node_jobs) {
    if (!nodes.contains(job.job_no)) continue;
    return {ErrorCode::kExists, "job " + job.id.value() + " is run by a workflow"};
  }
  for (const auto& [schedule, entry] : tables.dependencies) {
    if (entry.upstream != job.job_no || entry.dependent.job_no == job.job_no) continue;
    return {ErrorCode::kExists, "job " + job.id.value() + " is awaited by others"};
  }
  for (const auto& [waiting, waits] : tables.waited_jobs) {
    if (waiting == job.job_no || !Names(waits, job.job_no)) continue;
    return {ErrorCode::kExists, "runs of others wait for job " + job.id.value()};
  }
  return {};
}

JobDependencies DependenciesOf(MemoryTables& tables, const JobEntry& job) {
  JobDependencies found;
  for (const auto& [schedule, entry] : tables.dependencies) {
    const Dependent& dependent = entry.dependent;
    if (dependent.job_no == job.job_no) {
      found.upstream.push_back(LinkTo(tables, entry.upstream, dependent.on));
    }
    if (entry.upstream == job.job_no) {
      found.downstream.push_back(LinkTo(tables, dependent.job_no, dependent.on));
    }
  }
  for (const auto& [workflow, nodes] : tables.node_jobs) {
    if (workflow == job.job_no) {
      for (const JobNo node : nodes) found.upstream.push_back(NodeLinkTo(tables, node));
    } else if (nodes.contains(job.job_no)) {
      found.downstream.push_back(NodeLinkTo(tables, workflow));
    }
  }
  for (const auto& [waiting, waits] : tables.waited_jobs) {
    for (const WaitedJob& wait : waits) {
      const auto kind = DependencyKind::kWaits;
      if (waiting == job.job_no) {
        found.upstream.push_back(LinkTo(tables, wait.job_no, wait.on, kind));
      } else if (wait.job_no == job.job_no) {
        found.downstream.push_back(LinkTo(tables, waiting, wait.on, kind));
      }
    }
  }
  const auto by_id = [](const JobDependency& a, const JobDependency& b) {
    return std::pair(a.job_id, RankOf(a.kind)) < std::pair(b.job_id, RankOf(b.kind));
  };
  std::stable_sort(found.upstream.begin(), found.upstream.end(), by_id);
  std::stable_sort(found.downstream.begin(), found.downstream.end(), by_id);
  return found;
}

}  // namespace carillon::memory
