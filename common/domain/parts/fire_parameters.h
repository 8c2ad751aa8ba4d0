// Parameters that fires in parts keep when an edit of their job changes them: the parts of a fire
// start before the edit and after it, and must do one work. Pure.
//
// Place    At an edit, the stores give them to the own runs of fires that have begun
//          (given_parameters.h). A fire that begins again has those of then.
// Always   Names that only the new definition has are not kept away: its command may need them.
#pragma once

#include <map>
#include <optional>

#include "common/domain/job/fire_zone.h"
#include "common/domain/job/job.h"
#include "common/domain/run/run.h"
#include "common/domain/template/template.h"

namespace carillon {

class FireParameters {
 public:
  using Specs = ZoneChange::Specs;

  FireParameters() = default;
  FireParameters(const JobDefinition& before, const Specs& had, const JobDefinition& after,
                 const Specs& has);

  // Those of a fire of this schedule that the edit changes or removes, as they were. nullopt: none.
  std::optional<Parameters> ToKeep(ScheduleId id, const std::optional<RunTrigger>& trigger) const;
  bool Concern(ScheduleId id) const { return !Of(id).empty(); }
  bool empty() const;

 private:
  struct Kept {
    Parameters of_job = {};
    Parameters of_schedule = {};

    bool empty() const { return of_job.empty() && of_schedule.empty(); }
  };
  static Kept Changed(const JobDefinition& before, const ScheduleSpec* had,
                      const JobDefinition& after, const ScheduleSpec* has);
  const Kept& Of(ScheduleId id) const;

  std::map<ScheduleId, Kept> by_schedule_;
  Kept of_others_;  // of fires of no schedule, or of one that went before
};

}  // namespace carillon
