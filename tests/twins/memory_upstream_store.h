// The port UpstreamStore in memory.
#pragma once

#include <set>
#include <vector>

#include "common/ports/store/upstream_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryUpstreamStore final : public UpstreamStore {
 public:
  explicit MemoryUpstreamStore(MemoryTables& tables) : tables_(tables) {}

  Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>& segments, WallTime until,
                                    std::optional<RunKey> after, size_t limit) override;
  Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) override;
  Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& spans) override;
  Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>& items, const Fence& fence,
                                           WallTime now) override;
  Result<RunDetail> ReleaseRun(const RunKey& key, const WriteContext& context) override;

 private:
  AwaitingRun Describe(const RunEntry& entry) REQUIRES(tables_.mu);
  Result<UpstreamSources> SourcesOf(const UpstreamTarget& target) REQUIRES(tables_.mu);
  JobCauses CausesOf(const JobEntry& job) REQUIRES(tables_.mu);
  void AddSchedules(const JobEntry& job, UpstreamSources* found) REQUIRES(tables_.mu);
  void AddBackfills(UpstreamSources* found) REQUIRES(tables_.mu);
  bool IsReplaced(const RunKey& node) REQUIRES(tables_.mu);
  static bool IsAskedFor(const UpstreamSources& sources, const UpstreamRun& run);
  std::set<RunKey> PendingEndsOf(const std::vector<JobNo>& jobs) REQUIRES(tables_.mu);
  UpstreamRuns RunsOf(const UpstreamSpan& span) REQUIRES(tables_.mu);
  void Release(RunEntry entry, WallTime now, WaitEffect* effect) REQUIRES(tables_.mu);
  void Expire(RunEntry entry, const WaitItem& item, WallTime now, WaitEffect* effect)
      REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
