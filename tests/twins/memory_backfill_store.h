// The port BackfillStore in memory. backfill.h decides about each fire.
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/backfill_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryBackfillStore final : public BackfillStore {
 public:
  explicit MemoryBackfillStore(MemoryTables& tables) : tables_(tables) {}

  Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) override;
  Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                  const std::optional<KeyedAnswer<Backfill>>& keyed,
                                  const WriteContext& context) override;
  Result<Backfill> GetBackfill(uint64_t number) override;
  Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) override;
  Result<BoundedCount> CountBackfills(const BackfillFilter& filter) override;
  Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) override;
  Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) override;
  Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) override;
  Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                  uint64_t after, size_t limit) override;
  Result<BackfillEffect> StepBackfill(const OpenBackfill& open, const Fence& fence, WallTime now,
                                      Duration retention) override;

 private:
  struct Found {
    const JobEntry& job;
    Schedule schedule;
    BackfillQuestion question;
  };
  // The first fire that is left to the planner.
  WallTime PlannersPlace(const ScheduleEntry& entry) REQUIRES(tables_.mu);
  Result<Found> Find(const BackfillTerms& terms) REQUIRES(tables_.mu);
  Result<Backfill*> FindBackfill(uint64_t number) REQUIRES(tables_.mu);
  Result<Backfill> SetState(uint64_t number, BackfillState state);
  RunsByFire RunsAt(JobNo job_no, const std::vector<WallTime>& fires) REQUIRES(tables_.mu);
  void CountEnded(Backfill& backfill) REQUIRES(tables_.mu);
  // True if the run has ended.
  Status CreateRuns(Backfill& backfill, const JobEntry& job, WallTime now, Duration retention,
                    BackfillEffect* effect) REQUIRES(tables_.mu);
  RunRow Insert(const Backfill& backfill, const JobEntry& job, WallTime fire, WallTime now)
      REQUIRES(tables_.mu);
  Result<RunRow> RunAgain(const Backfill& backfill, const JobEntry& job, const RunKey& key,
                          WallTime now) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
