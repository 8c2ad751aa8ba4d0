// The fires that were due, derived from the actor's own record of its edits: the independent side
// of P1.
//
// Fires are computed here with plain arithmetic (rates, "every n seconds" cron texts, instants),
// not by the scheduler's own code.
#pragma once

#include <map>
#include <vector>

#include "common/ports/job_store.h"

namespace carillon::sim {

// One schedule from the edit that made it to the one that removed it.
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
  // The job as it stands after an acknowledged create or edit made at `now`.
  void Seen(const StoredJob& job, WallTime now);
  void Deleted(JobNo job_no, WallTime now);

  const std::map<ScheduleId, ScheduleLife>& lives() const { return lives_; }

  // The fires of this life that lie in [first, last], ascending.
  static std::vector<WallTime> Fires(const ScheduleLife& life, WallTime first, WallTime last);

 private:
  std::map<ScheduleId, ScheduleLife> lives_;
};

// The cron text "*/n * * * * *" (n divides 60), whose fires are the multiples of n seconds.
std::string EverySecondsCron(int seconds);

}  // namespace carillon::sim
