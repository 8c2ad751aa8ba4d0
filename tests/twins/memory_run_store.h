// The port RunStore in memory: runs as the API lists and changes them.
#pragma once

#include <vector>

#include "common/ports/store/run_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryRunStore final : public RunStore {
 public:
  explicit MemoryRunStore(MemoryTables& tables) : tables_(tables) {}

  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override;
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override;
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override;
  Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) override;
  Result<RunDetail> GetRun(const RunKey& key) override;
  Result<std::vector<RunPart>> ListParts(const RunKey& own) override;
  Result<std::map<RunKey, PartCounts>> CountParts(const std::vector<RunKey>& owns) override;
  Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) override;
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override;
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override;
  Result<uint64_t> RunsFingerprint(WallTime now) override;
  Result<GapPage> ListGaps(const GapFilter& filter) override;
  Result<BoundedCount> CountGaps(const GapFilter& filter) override;
  Result<RunCounts> CountOpenRuns() override;
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override;
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override;
  Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) override;
  Result<DeadLetter> GetDeadLetter(uint64_t id) override;
  Status DiscardDeadLetter(uint64_t id) override;

 private:
  // The error of a request to change a run that is not in `runs`.
  Error NotOpenable(const RunKey& key) REQUIRES(tables_.mu);
  RunDetail KeptDetail(const RunEntry& entry) REQUIRES(tables_.mu);
  RunPage ListStored(const RunFilter& filter, WallTime now) REQUIRES(tables_.mu);
  void AddKept(const RunFilter& filter, WallTime now, RunPage& page) REQUIRES(tables_.mu);
  bool Matches(const RunEntry& entry, const RunFilter& filter, WallTime now) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
