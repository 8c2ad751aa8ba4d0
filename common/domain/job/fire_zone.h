// The time zone in which a run tells the local date of its fire. Pure.
//
// It is that of the cron schedule that made the run, or else of the job. A run that an edit would
// move to another zone, for a later attempt, keeps its zone itself; so does a node of a workflow,
// whose zone is that of the workflow's run (given_parameters.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/domain/job/job.h"

namespace carillon {

// `schedule`: the one that made the run, if the job has it still; otherwise null.
const std::string& FireZone(const JobDefinition& job, const ScheduleSpec* schedule);

// An edit of a job, as far as it concerns the zones of the runs that exist.
class ZoneChange {
 public:
  using Specs = std::map<ScheduleId, const ScheduleSpec*>;

  ZoneChange() = default;
  ZoneChange(const JobDefinition& before, const Specs& had, const JobDefinition& after,
             const Specs& has);

  // The zone that a run of this schedule must keep. nullopt: the edit leaves it as it is.
  std::optional<std::string> ToKeep(ScheduleId id) const;
  bool empty() const { return by_schedule_.empty() && !of_others_; }

 private:
  std::map<ScheduleId, std::optional<std::string>> by_schedule_;
  std::optional<std::string> of_others_;  // runs of no schedule, or of one that went before
};

}  // namespace carillon
