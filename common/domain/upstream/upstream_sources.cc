#include "common/domain/upstream/upstream_sources.h"

#include <set>

#include "common/base/failpoint.h"

namespace carillon {

Status FindSources(JobNo start, const ReadCauses& read, UpstreamSources* found) {
  std::set<JobNo> known{start};
  std::set<JobNo> by_end;
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
      }
    }
    found->too_many = known.size() > kSourceJobsMax + 1;
  }
  found->jobs.assign(known.begin(), known.end());
  if (!found->too_many) found->by_end.assign(by_end.begin(), by_end.end());
  return {};
}

}  // namespace carillon
