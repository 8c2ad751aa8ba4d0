// The port CompletionStore in memory.
#pragma once

#include <map>
#include <vector>

#include "common/ports/store/completion_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryCompletionStore final : public CompletionStore {
 public:
  explicit MemoryCompletionStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                     size_t limit) override;
  Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                              const Fence& fence, WallTime now) override;
  Result<std::vector<FireEffect>> EndFires(const std::vector<FireLook>& fires, const Fence& fence,
                                           WallTime now) override;
  Result<std::vector<FireLook>> ScanUnended(const std::vector<SegmentId>& segments, WallTime due,
                                            size_t limit) override;
  Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                               size_t limit) override;
  Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) override;

 private:
  // True if a scan has found this completion before, or a later one. Only a test that breaks a rule
  // asks for it.
  bool IsPassed(const RunCompletion& end) REQUIRES(tables_.mu);
  bool IsStuck(const ScheduleEntry& schedule) const REQUIRES(tables_.mu);
  // `asked`: the keys of the runs that ends of the same batch ask for.
  CompletionEffect StartDependents(const RunCompletion& end, WallTime now,
                                   std::map<ScheduleId, StartedRuns>* gone) REQUIRES(tables_.mu);
  CompletionEffect Move(const ScheduleEntry& schedule, WallTime fire) REQUIRES(tables_.mu);

  MemoryTables& tables_;
  std::map<SegmentId, uint64_t> newest_ GUARDED_BY(tables_.mu);  // that a scan has found
};

}  // namespace carillon::memory
