// Facts of a run that edits of its job have taken since: a retry without them would do other work
// than the run has done. Pure.
//
// Place    An edit keeps the parameters of a schedule that it removes, and the time zone of their
//          fires, with the runs that are open or have a dead letter (kept_parameters.h). Others
//          have only what was stored with them.
#pragma once

#include "common/domain/job/job.h"
#include "common/domain/run/run.h"
#include "common/domain/template/node_template.h"

namespace carillon {

// A run of which nothing was kept, with the definitions of its job.
struct RunOfVersion {
  const JobDefinition* then = nullptr;  // of the run's version; null if that cannot be read
  const JobDefinition* now = nullptr;
  bool of_schedule = true;                 // false: of a request
  const ScheduleSpec* schedule = nullptr;  // the one that made it, if the job has it still
  RenderedParameters given = {};           // stored with the run
};

// kConflict: it cannot run again as it ran.
Status CheckLostFacts(const RunRow& row, const RunOfVersion& run);

}  // namespace carillon
