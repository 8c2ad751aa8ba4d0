// Runs that events start: their fires, and their rows.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/run/run_state.h"
#include "common/domain/template/node_template.h"

namespace carillon::mysql {

// Runs of one schedule whose fires lie at or after the moment of an acceptance: at most so far
// after it. Others accept events at nearly the same moment.
inline constexpr Duration kBusyFiresMax = 100ms;

class FreeFires {
 public:
  // Without locks: two that take the same fire collide when they insert its run.
  static Result<FreeFires> Read(Session& session, const std::map<ScheduleId, JobNo>& schedules,
                                WallTime now);

  // The first fire at which the schedule has no run. kUnavailable: there is none.
  Result<WallTime> Next(ScheduleId schedule) const;
  void Take(ScheduleId schedule, WallTime fire);

 private:
  struct Busy {
    WallTime free;  // no fire before it is free
    std::set<WallTime> fires = {};
  };
  WallTime now_ = WallTime{};
  std::map<ScheduleId, Busy> schedules_;
};

struct EventRun {
  RunRow row;
  std::string parameters;
};
// `job` is locked.
EventRun EventRunOf(const RunKey& key, const JobRow& job, const RenderedParameters& given);

// kExists: a schedule has a run with such a fire.
Status InsertEventRuns(Session& session, std::vector<EventRun> runs, WallTime now);

}  // namespace carillon::mysql
