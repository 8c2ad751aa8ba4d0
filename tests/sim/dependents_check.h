// Rules of jobs that start after other jobs, judged from the acknowledged definitions and from the ends
// that the store recorded.
//
// - The run of a dependent is created only for an end that its schedule waits for, and has its fire.
// - At rest, each such end has a run: exactly one, because the key names it.
//
// In the worlds that check this, the actor does not pause or delete a dependent, and keeps the schedules
// that it has.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "common/domain/run/run.h"
#include "common/ports/store/job_store.h"

namespace carillon::sim {

class DependentsCheck {
 public:
  void Acknowledged(const StoredJob& job);
  // Returns what is wrong with the write of a run; nullopt: nothing.
  std::optional<std::string> RunWritten(const RunRow* before, const RunRow* after);
  std::optional<std::string> AtRest(const std::map<RunKey, RunRow>& rows) const;

  size_t started() const { return started_; }

 private:
  struct Waiting {
    JobId upstream;
    AfterOutcome on = AfterOutcome::kSuccess;
  };

  std::map<JobNo, JobId> ids_;
  std::map<ScheduleId, Waiting> waiting_;
  std::set<RunKey> wanted_;
  size_t started_ = 0;
};

}  // namespace carillon::sim
