// The port FiringStore in memory. run_state.h decides what claims, results and losses write.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "common/ports/store/firing_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryFiringStore final : public FiringStore {
 public:
  explicit MemoryFiringStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments, WallTime until,
                                           size_t limit) override;
  Result<std::vector<DueSchedule>> ScanOutdated(const std::vector<SegmentId>& segments,
                                                const std::vector<CalendarAt>& calendars,
                                                size_t limit) override;
  Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) override;
  Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                  std::optional<std::pair<WallTime, RunKey>> after,
                                  size_t limit) override;
  Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window, std::optional<RunKey> after,
                                          size_t limit) override;
  Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                  std::optional<RunCursor> after, size_t limit) override;
  Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                         std::optional<RunCursor> after, size_t limit) override;
  Result<RunningPage> ScanPresumed(const std::vector<SegmentId>& segments,
                                   std::optional<RunCursor> after, size_t limit) override;
  Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) override;
  Result<RunRequest> LoadRunRequest(const RunKey& key) override;
  Result<std::map<RunKey, std::string>> LoadRunRules(const std::vector<RunKey>& keys) override;
  Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                        const Fence& fence, WallTime now) override;
  Result<std::vector<RunKey>> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                   WallTime now) override;
  Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                              const Fence& fence, WallTime now) override;
  Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                          const Fence& fence, WallTime now) override;
  Result<std::vector<RunEffect>> GiveUp(const std::vector<LostReport>& reports, const Fence& fence,
                                        WallTime now) override;
  Result<std::vector<RunEffect>> Presume(const std::vector<LostReport>& reports, const Fence& fence,
                                         WallTime now) override;
  Result<OverdueReport> ReadOverdue(WallTime now) override;

 private:
  Status CheckAdvances(const PlanBatch& batch) const REQUIRES(tables_.mu);
  Status CheckNewRuns(const PlanBatch& batch) REQUIRES(tables_.mu);
  void SortForGroups(const std::vector<ClaimRequest>& requests, std::vector<size_t>* places)
      REQUIRES(tables_.mu);
  RunEffect ApplyOne(const ResultReport& report, WallTime now) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
