// Rules of pause_after_failures, by a second implementation of the count. Stands between the
// members and the store of streaks.
//
// - A job is paused only if as many of its newest counted runs of the present version have failed.
// - Once faults are over, no job stays enabled for long although they have.
//
// Counted is a run that the scheduler started by itself for a fire of the version's own time, and
// that has COMPLETED, or has FAILED or TIMED_OUT by no fault of its host. Runs that a person has
// started before their fires count from then on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/ports/store/stores.h"
#include "tests/sim/checker.h"
#include "tests/twins/memory_tables.h"

namespace carillon::sim {

class StreaksCheck final : public StreakStore {
 public:
  static constexpr Duration kPausedWithin = 10s;

  StreaksCheck(const Stores& stores, memory::MemoryTables& tables, Checker& checker,
               const Clock& clock)
      : store_(stores.streaks),
        jobs_(stores.jobs),
        tables_(tables),
        checker_(checker),
        clock_(clock) {}

  Result<std::vector<FailingJob>> ScanFailing(const std::vector<SegmentId>& segments,
                                              WallTime since, std::optional<JobNo> after,
                                              size_t limit) override {
    return store_.ScanFailing(segments, since, after, limit);
  }
  Result<Streak> ReadStreak(const FailingJob& job, WallTime now) override {
    return store_.ReadStreak(job, now);
  }
  Result<bool> PauseFailing(const FailingJob& job, const Fence& fence,
                            const WriteContext& context) override;

  // Call it from time to time while nothing fails and nobody acts.
  void Look();
  size_t pauses() const { return pauses_; }

 private:
  // False: fewer have failed in a row, or the job has no limit.
  bool IsFull(const memory::JobEntry& job) const REQUIRES(tables_.mu);

  StreakStore& store_;
  JobStore& jobs_;
  memory::MemoryTables& tables_;
  Checker& checker_;
  const Clock& clock_;
  std::map<JobNo, WallTime> full_since_;  // of enabled jobs
  size_t pauses_ = 0;
};

}  // namespace carillon::sim
