// The port of runs that wait for runs of other jobs, paired: each call goes to both stores
// (pairing.h).
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/upstream_store.h"
#include "tests/histories/pairing.h"

namespace carillon::test {

class PairedUpstreamStore final : public Paired<UpstreamStore> {
 public:
  using Paired::Paired;
  Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>& segments, WallTime until,
                                    std::optional<RunKey> after, size_t limit) override {
    return Both("ScanAwaiting", &UpstreamStore::ScanAwaiting, segments, until, after, limit);
  }
  Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) override {
    return Both("ReadSources", &UpstreamStore::ReadSources, targets);
  }
  Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& spans) override {
    return Both("ReadUpstreamRuns", &UpstreamStore::ReadUpstreamRuns, spans);
  }
  Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>& items, const Fence& fence,
                                           WallTime now) override {
    return Both("EndWaits", &UpstreamStore::EndWaits, items, fence, now);
  }
  Result<RunDetail> ReleaseRun(const RunKey& key, const WriteContext& context) override {
    return Both("ReleaseRun", &UpstreamStore::ReleaseRun, key, context);
  }
};

}  // namespace carillon::test
