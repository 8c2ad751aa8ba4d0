#include "common/domain/upstream/upstream_sources.h"

#include <set>

#include "common/base/failpoint.h"

namespace carillon {

Status FindSources(JobNo start, const ReadCauses& read, UpstreamSources* found) {
  std::set<JobNo> known{start};
  std::vector<JobNo> level{start};
  const bool chain = !failpoint::Broken("await.chain");
  while (chain && !level.empty() && !found->too_many) {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<JobCauses> causes, read(level));
    level.clear();
    for (const JobCauses& job : causes) {
      if (job.has_times) continue;
      for (const JobNo before : job.before) {
        if (known.insert(before).second) level.push_back(before);
      }
    }
    found->too_many = known.size() > kSourceJobsMax + 1;
  }
  found->jobs.assign(known.begin(), known.end());
  return {};
}

}  // namespace carillon
