#include "tests/twins/memory_dependencies.h"

#include <algorithm>
#include <utility>

namespace carillon::memory {
namespace {

std::multimap<JobNo, JobNo> UpstreamNumbersOf(const MemoryTables& tables,
                                              const std::vector<JobNo>& jobs) REQUIRES(tables.mu) {
  std::multimap<JobNo, JobNo> found;
  for (const auto& [schedule, entry] : tables.dependencies) {
    const JobNo job_no = entry.dependent.job_no;
    if (std::find(jobs.begin(), jobs.end(), job_no) != jobs.end()) {
      found.emplace(job_no, entry.upstream);
    }
  }
  return found;
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
                const JobDefinition& definition, size_t siblings) REQUIRES(tables.mu) {
  const JobId named(definition.schedules[schedule].upstream);
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
  if (job == nullptr) return {};  // nothing waits for a new job
  const auto read = [&](const std::vector<JobNo>& jobs)
                        REQUIRES(tables.mu) -> Result<std::multimap<JobNo, JobNo>> {
    return UpstreamNumbersOf(tables, jobs);
  };
  CARILLON_ASSIGN_OR_RETURN(const std::vector<JobNo> cycle,
                            FindCycle(job->job_no, upstream->job_no, read));
  if (cycle.empty()) return {};
  std::vector<std::string> names;
  for (const JobNo job_no : cycle) names.push_back(tables.FindJob(job_no)->definition.name);
  names.front() = names.back() = definition.name;
  return DependencyCycle(schedule, names);
}

JobDependency LinkTo(MemoryTables& tables, JobNo job_no, AfterOutcome on) REQUIRES(tables.mu) {
  const JobEntry& job = *tables.FindJob(job_no);
  return {.job_id = job.id, .job_name = job.definition.name, .on = on, .deleted = job.deleted};
}

}  // namespace

Status CheckUpstream(MemoryTables& tables, const JobId& id, const JobEntry* job,
                     const JobDefinition& definition, const std::map<JobId, size_t>& siblings) {
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    if (definition.schedules[i].kind != ScheduleKind::kAfter) continue;
    if (definition.schedules[i].upstream == id.value()) {
      return DependencyCycle(i, {definition.name, definition.name});
    }
    const auto sibling = siblings.find(JobId(definition.schedules[i].upstream));
    CARILLON_TRY(
        CheckOne(tables, job, i, definition, sibling == siblings.end() ? 0 : sibling->second));
  }
  return {};
}

void RaiseFlags(MemoryTables& tables, const JobDefinition& definition) {
  for (const JobId& id : UpstreamOf(definition)) {
    JobEntry* job = tables.FindJob(id);
    if (job == nullptr || job->has_dependents) continue;
    job->has_dependents = true;
    for (const ScheduleId schedule_id : job->schedules) {
      ScheduleEntry schedule = *tables.FindSchedule(schedule_id);
      ++schedule.version;
      tables.PutSchedule(std::move(schedule));
    }
    for (const RunKey& key : std::set<RunKey>(job->open)) {
      RunEntry entry = *tables.FindRun(key);
      entry.row.flags |= EndFlags(entry.row.kind, true);
      tables.PutRun(std::move(entry));
    }
  }
}

// Keeps those of schedules that stay: ends that are older than them start nothing.
void PutDependencies(MemoryTables& tables, const JobEntry& job) {
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
  std::erase_if(tables.dependencies,
                [&](const auto& entry) { return entry.second.dependent.job_no == job.job_no; });
}

Status CheckNotAwaited(const MemoryTables& tables, const JobEntry& job) {
  for (const auto& [schedule, entry] : tables.dependencies) {
    if (entry.upstream != job.job_no || entry.dependent.job_no == job.job_no) continue;
    return {ErrorCode::kExists, "job " + job.id.value() + " is awaited by others"};
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
  const auto by_id = [](const JobDependency& a, const JobDependency& b) {
    return a.job_id < b.job_id;
  };
  std::stable_sort(found.upstream.begin(), found.upstream.end(), by_id);
  std::stable_sort(found.downstream.begin(), found.downstream.end(), by_id);
  return found;
}

}  // namespace carillon::memory
