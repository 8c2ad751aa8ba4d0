// Keeps what an edit of a job would take from its runs: the parameters of a schedule that it
// removes, the parameters of fires in parts that have begun, and the time zone of their fires.
//
// A run gets the parameters of its schedule from the definition when an attempt starts. Once the
// schedule is gone, the run must have them itself: a retry for one tenant must not become one
// for all, nor may another day be worked on.
#pragma once

#include <map>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/job/fire_zone.h"
#include "common/domain/parts/fire_parameters.h"
#include "common/domain/template/template.h"

namespace carillon::mysql {

struct KeptFacts {
  // Of the schedules that the edit removes, if they have any.
  std::map<ScheduleId, Parameters> parameters = {};
  ZoneChange zones = {};
  FireParameters fires = {};

  bool empty() const { return parameters.empty() && zones.empty() && fires.empty(); }
  // `in_parts`: a run of a fire in parts that has begun.
  bool Concern(ScheduleId id, bool in_parts) const {
    return parameters.contains(id) || zones.ToKeep(id) || (in_parts && fires.Concern(id));
  }
};

// Writes them into those of `runs`, which the caller has locked, that they concern. What was given
// to a run itself goes on to win. Parts of fires get no copy: they read that of their own run,
// which is open while one of them is.
Status KeepParameters(Session& session, const std::vector<RunKey>& runs, const KeptFacts& kept);

// Runs that these may concern, that have failed and may be retried. The caller has locked the job.
inline constexpr int64_t kFailedRunsKeptMax = 10'000;
Result<std::vector<RunKey>> ReadFailedRuns(Session& session, JobNo job_no, const KeptFacts& kept);

}  // namespace carillon::mysql
