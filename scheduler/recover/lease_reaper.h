// Declares attempts LOST when their lease has expired, and feeds their retries to the firing loop.
//
// Place    Step 10 of docs/life-of-a-run.md, for attempts whose result never arrives.
// Errors   If nothing was written, the attempts stay marked and are written later. The lease of a
//          marked attempt cannot be renewed or granted again. If the outcome is unknown, the
//          segments are taken again and scanned. kInvalid: the batch is bisected. The bad attempt
//          stays marked and is retried.
// Always   An attempt is marked in the lease table before the store is written
//          (lease_table.h, rule 2).
#pragma once

#include <span>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "scheduler/recover/loss_effects.h"
#include "scheduler/recover/presumed_runs.h"

namespace carillon::scheduler {

class LeaseReaper final : public Stepper {
 public:
  using Ports = LossPorts;
  // `presumed` is told which attempts are taken for dead later; null: nobody is.
  LeaseReaper(const Ports& ports, uint64_t seed, PresumedRuns* presumed = nullptr);

  SteadyTime Step(SteadyTime now) override;

 private:
  // Returns false if some losses were not written, or may not have been written.
  bool Write(const OwnedView& view, const std::vector<ExpiredLease>& expired);
  Status MarkLost(const OwnedView& view, std::span<const ExpiredLease> expired, WallTime now);
  void Effects(const OwnedView& view, const std::vector<ExpiredLease>& written,
               const std::vector<RunEffect>& effects);

  const Ports ports_;
  PresumedRuns* const presumed_;
  Rng rng_;
  Backoff backoff_;
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
