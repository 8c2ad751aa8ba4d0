#include "common/domain/upstream/upstream_sources.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/failpoint.h"

namespace carillon {
namespace {

using WorkflowsByJob = std::map<JobNo, std::vector<JobNo>>;

std::vector<JobNo> WorkflowsAround(JobNo start, const WorkflowsByJob& of_job) {
  std::set<JobNo> found{start};
  std::vector<JobNo> open{start};
  while (!open.empty()) {
    const auto around = of_job.find(open.back());
    open.pop_back();
    if (around == of_job.end()) continue;
    for (const JobNo workflow : around->second) {
      if (found.insert(workflow).second) open.push_back(workflow);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

Status FindSources(JobNo start, const ReadCauses& read, UpstreamSources* found) {
  std::set<JobNo> known{start};
  std::set<JobNo> by_end;
  WorkflowsByJob workflows;
  std::vector<JobNo> level{start};
  const bool chain = !failpoint::Broken("await.chain");
  while (chain && !level.empty() && !found->too_many) {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<JobCauses> causes, read(level));
    level.clear();
    for (const JobCauses& job : causes) {
      if (job.has_times) continue;
      by_end.insert(job.by_end.begin(), job.by_end.end());
      for (const JobNo before : job.before) {
        if (known.insert(before).second) level.push_back(before);
        const bool is_end = std::ranges::find(job.by_end, before) != job.by_end.end();
        if (!is_end) workflows[job.job_no].push_back(before);
      }
    }
    found->too_many = known.size() > kSourceJobsMax + 1;
  }
  found->jobs.assign(known.begin(), known.end());
  if (found->too_many) return {};
  found->by_end.assign(by_end.begin(), by_end.end());
  found->workflows = WorkflowsAround(start, workflows);
  return {};
}

}  // namespace carillon
