// The port BackfillStore with the faults of a FaultPlan, for the calls of users.
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/backfill_store.h"
#include "tests/unit/scheduler/api/fault_plan.h"

namespace carillon::test {

class FaultyBackfills : public BackfillStore {
 public:
  FaultyBackfills(BackfillStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) override {
    return plan_.Run("PreviewBackfill", [&] { return store_.PreviewBackfill(terms); });
  }
  Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                  const std::optional<KeyedAnswer<Backfill>>& keyed,
                                  const WriteContext& context) override {
    return plan_.Run("CreateBackfill",
                     [&] { return store_.CreateBackfill(terms, keyed, context); });
  }
  Result<Backfill> GetBackfill(uint64_t number) override {
    return plan_.Run("GetBackfill", [&] { return store_.GetBackfill(number); });
  }
  Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) override {
    return plan_.Run("ListBackfills", [&] { return store_.ListBackfills(filter); });
  }
  Result<BoundedCount> CountBackfills(const BackfillFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountBackfills(filter); });
  }
  Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) override {
    return plan_.Run("PauseBackfill", [&] { return store_.PauseBackfill(number, context); });
  }
  Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) override {
    return plan_.Run("ResumeBackfill", [&] { return store_.ResumeBackfill(number, context); });
  }
  Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) override {
    return plan_.Run("CancelBackfill", [&] { return store_.CancelBackfill(number, context); });
  }
  Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                  uint64_t after, size_t limit) override {
    return store_.ScanBackfills(segments, after, limit);
  }
  Result<BackfillEffect> StepBackfill(const OpenBackfill& backfill, const Fence& fence,
                                      WallTime now, Duration retention) override {
    return store_.StepBackfill(backfill, fence, now, retention);
  }

 private:
  BackfillStore& store_;
  FaultPlan& plan_;
};

}  // namespace carillon::test
