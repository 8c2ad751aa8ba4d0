// The port SegmentStore in memory.
//
// Time     Now(), the cluster's time, is the wall time of the given clock.
#pragma once

#include <vector>

#include "common/base/clock.h"
#include "common/ports/store/segment_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemorySegmentStore final : public SegmentStore {
 public:
  MemorySegmentStore(MemoryTables& tables, const Clock& clock) : tables_(tables), clock_(clock) {}

  Result<WallTime> Now() override;
  Result<TakenSegments> Take(const TakeRequest& request) override;
  Status Release(const Fence& fence) override;
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override;
  Result<std::vector<SegmentRecord>> ListSegments() override;

 private:
  MemoryTables& tables_;
  const Clock& clock_;
};

}  // namespace carillon::memory
