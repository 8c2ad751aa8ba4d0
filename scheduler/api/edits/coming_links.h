// Circles of jobs, and waits that are never met, in a dry run: some of the jobs are only described
// by the request, so that no store can check them.
//
// Place    JobApplier asks it after CheckEdit, in the order in which it would store the jobs.
// Threads  One request owns it. `call` must outlive it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/domain/upstream/deadlock.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

class ComingLinks {
 public:
  explicit ComingLinks(const Call& call) : call_(call) {}

  // True, or 422 cycle as the store would say it, or never_met of an entry that names a job of the
  // request. An accepted definition counts for those that follow. `before`: the stored definition,
  // or null.
  Outcome<bool> Accept(const JobId& id, const JobDefinition* before,
                       const JobDefinition& definition);

 private:
  // A job of the store.
  struct Stored {
    std::optional<JobDefinition> definition = {};  // nullopt: unreadable, deleted or not there
    std::set<JobId> workflows = {};                // that run it as a node
  };

  Outcome<bool> Check(const JobId& id, const JobDefinition* before,
                      const JobDefinition& definition);
  Result<const Stored*> ReadStored(const JobId& id);
  // Of the request or else of the store; null: not known.
  Result<const JobDefinition*> DefinitionOf(const JobId& id);
  Result<std::set<JobId>> WorkflowsOf(const JobId& id);

  JobNo NumberOf(const JobId& id);
  Result<std::multimap<JobNo, JobNo>> ReadUpstream(const std::vector<JobNo>& jobs);
  Result<std::vector<JobLinks>> ReadLinks(const std::vector<JobNo>& jobs, const JobId& writer);
  Result<std::vector<std::string>> NamesOf(const std::vector<JobNo>& jobs);
  // The names of a circle that arises if `job` waits for `upstream`; empty: none.
  Result<std::vector<std::string>> Cycle(const JobId& job, const JobId& upstream);
  Status CheckCauses(const JobId& id, const JobDefinition& definition);
  Status CheckWaits(const JobId& id, const JobDefinition& definition);
  Status CheckDeadlocks(const JobId& id, const JobDefinition& definition);
  // True if runs of the job may have dates, or if that is not known.
  Result<bool> MayHaveFires(const JobId& start);

  const Call& call_;
  std::map<JobId, JobDefinition> accepted_;
  std::map<JobId, Stored> stored_;
  std::map<JobId, JobNo> numbers_;  // of this request alone
  std::vector<JobId> by_number_;
};

}  // namespace carillon::scheduler
