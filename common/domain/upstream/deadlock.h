// Circles in which each run waits for the end of another one, found when a job is written. Pure.
//
//   a run begins   after the runs for which it waits have ended. If only one thing starts its job,
//                  also after that job before it has ended, or that workflow has begun
//   a run ends     after it has begun, and after the runs of its nodes have ended
//   a node's run   begins with its workflow, whatever else starts its job
//
// The jobs of such a circle need not start each other, so FindCycle (dependents.h) may find none.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/job/job.h"

namespace carillon {

struct WaitLink {
  JobNo job;
  JobNo in = {};  // only as its node; 0 = anywhere
};

// The other jobs that a job names, and that name it.
struct JobLinks {
  JobNo job_no = {};
  bool has_times = false;            // it has schedules of time
  std::vector<WaitLink> waits = {};  // its `waits_for`
  std::set<JobNo> before = {};       // after whose end it starts, except failures
  std::set<JobNo> nodes = {};        // of its workflow
  std::set<JobNo> workflows = {};    // that run it as a node
};
// Answers for those of the jobs that have any links, without those that the written job names.
using ReadLinks = std::function<Result<std::vector<JobLinks>>(const std::vector<JobNo>& jobs)>;

// `number` answers for the jobs that the definition names.
JobLinks LinksOf(JobNo job_no, const JobDefinition& definition,
                 const std::function<JobNo(const JobId&)>& number);

struct Deadlock {
  enum class Link { kWait, kBefore, kNode };
  Link link;
  JobNo named;       // by that link
  size_t entry = 0;  // of kWait
  // In the order in which they would run, the first one again at the end.
  std::vector<JobNo> jobs = {};
};

// The first circle that the links of `written` would close. Its `workflows` are read. The number of
// a job that is new is 0.
Result<std::optional<Deadlock>> FindDeadlock(const JobLinks& written, const ReadLinks& read);

// A "cycle" as in dependents.h, with the place that names the job. `names`: those of `jobs`.
Error DeadlockError(const JobDefinition& definition, const Deadlock& deadlock, const JobId& named,
                    const std::vector<std::string>& names);

}  // namespace carillon
