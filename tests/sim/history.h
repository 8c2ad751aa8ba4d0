// Computes the fires that were due from the actor's record of its edits. The check of P1 compares
// them with the runs and gaps in the store.
//
// Fires are computed with plain arithmetic (rates, cron expressions for "every n seconds", single
// times), not with the scheduler's code.
#pragma once

#include <map>
#include <vector>

#include "common/ports/store/job_store.h"

namespace carillon::sim {

// A schedule, from the edit that created it to the one that removed it.
struct ScheduleLife {
  ScheduleId id;
  JobNo job_no;
  JobId job_id;
  ScheduleSpec spec;
  WallTime from;            // exclusive
  WallTime until = kNever;  // inclusive
};

class History {
 public:
  // Records the job after an acknowledged create or edit at `now`.
  void Seen(const StoredJob& job, WallTime now);
  void Deleted(JobNo job_no, WallTime now);

  const std::map<ScheduleId, ScheduleLife>& lives() const { return lives_; }

  // The fires of this schedule in [first, last], ascending.
  static std::vector<WallTime> Fires(const ScheduleLife& life, WallTime first, WallTime last);

 private:
  std::map<ScheduleId, ScheduleLife> lives_;
};

// The cron expression "*/n * * * * *" (n divides 60), which fires at the multiples of n seconds.
std::string EverySecondsCron(int seconds);

}  // namespace carillon::sim
