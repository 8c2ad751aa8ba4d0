// Rows of job_dependencies: which schedules wait for the ends of which jobs, which workflows run
// them, and which runs wait for theirs.
//
// Place    mysql_job_store writes them with the job that waits; dependent_runs reads them when a
//          run ends.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/dependencies/upstream_check.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/domain/run/dependents.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

// Makes the rows of the job agree with its schedules, nodes and waits. Rows of schedules that stay
// are kept: what is older than them starts nothing.
Status WriteDependencies(Session& session, JobNo job_no,
                         const std::vector<StoredSchedule>& schedules,
                         const JobDefinition& definition, const UpstreamNumbers& upstream);
// The rows of new jobs.
struct NewDependent {
  JobNo job_no;
  std::vector<StoredSchedule> schedules;
  const JobDefinition& definition;
  const UpstreamNumbers& upstream;
};
Status InsertDependencies(Session& session, const std::vector<NewDependent>& dependents);
Status DeleteDependencies(Session& session, JobNo job_no);

// Those of the jobs that have the flag. Takes no locks: the flag is never taken back.
Result<std::set<JobNo>> WithDependents(Session& session, const std::set<JobNo>& jobs);

// Reads the names of at most three jobs that wait for this one; without locks.
Result<std::vector<std::string>> SomeDependents(Session& session, JobNo job_no);

struct UpstreamDependents {
  JobId upstream;
  std::vector<Dependent> dependents;
};
// By number of the upstream job. Takes no locks.
Result<std::map<JobNo, UpstreamDependents>> ReadDependents(Session& session,
                                                           const std::vector<JobNo>& upstream);
// Implements JobStore::ListDependencies.
Result<JobDependencies> ReadDependencies(Session& session, const JobId& id);

}  // namespace carillon::mysql
