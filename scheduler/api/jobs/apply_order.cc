#include "scheduler/api/jobs/apply_order.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/domain/run/dependents.h"
#include "common/domain/workflow/dependency_order.h"

namespace carillon::scheduler {

std::vector<JobId> JobsBefore(const JobDefinition& definition) {
  std::vector<JobId> jobs = UpstreamOf(definition);
  for (const std::vector<JobId>& more : {NodeJobsOf(definition), WaitedJobsOf(definition)}) {
    jobs.insert(jobs.end(), more.begin(), more.end());
  }
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

bool MayCloseCircle(const JobDefinition& definition) {
  const bool has_before = WaitsForOthers(definition) || !UpstreamOf(definition).empty();
  return has_before && !NodeJobsOf(definition).empty();
}

StoredJob OutlineOf(const StoredJob& job) {
  StoredJob outline{
      .job_no = job.job_no, .job_id = job.job_id, .segment = job.segment, .version = job.version};
  outline.definition.name = job.definition.name;
  outline.definition.name_space = job.definition.name_space;
  outline.definition.user_id = job.definition.user_id;
  outline.definition.labels = job.definition.labels;
  outline.definition.schedules = job.definition.schedules;
  outline.definition.waits_for = job.definition.waits_for;
  const std::vector<JobId> nodes = NodeJobsOf(job.definition);
  if (!nodes.empty()) outline.definition.workflow.emplace();
  for (const JobId& node : nodes) outline.definition.workflow->nodes.push_back({.job = node});
  return outline;
}

std::vector<StoredJob> DependentsFirst(std::vector<StoredJob> jobs) {
  std::map<JobId, std::vector<size_t>> dependents;  // by the job that must outlive them
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (const JobId& id : JobsBefore(jobs[i].definition)) dependents[id].push_back(i);
  }
  const auto before = [&](size_t i) {
    const auto found = dependents.find(jobs[i].job_id);
    return found == dependents.end() ? std::vector<size_t>() : found->second;
  };
  const std::vector<size_t> order = Ordered(jobs.size(), before);
  std::vector<StoredJob> ordered;
  ordered.reserve(jobs.size());
  for (const size_t i : order) ordered.push_back(std::move(jobs[i]));
  return ordered;
}

}  // namespace carillon::scheduler
