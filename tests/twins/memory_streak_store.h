// The port StreakStore in memory.
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/streak_store.h"
#include "tests/twins/memory_job_store.h"

namespace carillon::memory {

class MemoryStreakStore final : public StreakStore {
 public:
  MemoryStreakStore(MemoryTables& tables, MemoryJobStore& jobs) : tables_(tables), jobs_(jobs) {}

  Result<std::vector<FailingJob>> ScanFailing(const std::vector<SegmentId>& segments,
                                              WallTime since, std::optional<JobNo> after,
                                              size_t limit) override;
  Result<Streak> ReadStreak(const FailingJob& job, WallTime now) override;
  Result<bool> PauseFailing(const FailingJob& job, const Fence& fence,
                            const WriteContext& context) override;

 private:
  Streak StreakOf(const FailingJob& job, WallTime now) const REQUIRES(tables_.mu);

  MemoryTables& tables_;
  MemoryJobStore& jobs_;
};

}  // namespace carillon::memory
