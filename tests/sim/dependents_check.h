// Rules of jobs that start after other jobs, judged from the acknowledged definitions and from the
// ends that the store recorded.
//
// - The run of a dependent is created only for an end that its schedule waits for. It has the fire
//   of the run that ended, or one shortly after it if other runs had this fire.
// - At rest, each run with such an end has started exactly one run.
//
// In the worlds that check this, the actor does not pause or delete a dependent, and keeps the
// schedules that it has.
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
  std::optional<std::string> AtRest() const;

  size_t started() const { return started_; }

 private:
  struct Waiting {
    JobId upstream;
    AfterOutcome on = AfterOutcome::kSuccess;
  };

  bool Meet(const RunKey& run);

  std::map<JobNo, JobId> ids_;
  std::map<ScheduleId, Waiting> waiting_;
  // Runs with an end that counts, by the waiting schedule and fire: how many have started no
  // run yet.
  std::map<ScheduleId, std::map<WallTime, size_t>> unmet_;
  std::map<ScheduleId, std::set<RunKey>> ended_;
  size_t started_ = 0;
};

}  // namespace carillon::sim
