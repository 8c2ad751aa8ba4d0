// The port of runs that wait for runs of other jobs, whose calls go through a CallGate.
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/upstream_store.h"
#include "tests/support/faults/fault_store.h"

namespace carillon::test {

class FaultUpstreamStore : public FaultStore<UpstreamStore> {
 public:
  using FaultStore::FaultStore;
  Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>& segments, WallTime until,
                                    std::optional<RunKey> after, size_t limit) override {
    return Scan("ScanAwaiting", &UpstreamStore::ScanAwaiting, segments, until, after, limit);
  }
  Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) override {
    return Call("ReadSources", &UpstreamStore::ReadSources, targets);
  }
  Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& spans) override {
    return Call("ReadUpstreamRuns", &UpstreamStore::ReadUpstreamRuns, spans);
  }
  Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>& items, const Fence& fence,
                                           WallTime now) override {
    return Write("EndWaits", &UpstreamStore::EndWaits, items, fence, now);
  }
  Result<RunDetail> ReleaseRun(const RunKey& key, const WriteContext& context) override {
    return Call("ReleaseRun", &UpstreamStore::ReleaseRun, key, context);
  }
};

}  // namespace carillon::test
