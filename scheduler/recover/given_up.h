// Ends the attempts that a person has given up.
//
// Place    Beside step 8 of docs/life-of-a-run.md; cancel_pusher.h finds them.
// Threads  One loop calls it.
// Errors   If nothing was written, the next look at the cancel requests finds the runs again.
#pragma once

#include <span>

#include "scheduler/recover/loss_effects.h"

namespace carillon::scheduler {

class GivenUp {
 public:
  explicit GivenUp(const LossPorts& ports) : ports_(ports) {}

  // `rows` as ScanCancelRequests found them.
  void End(const OwnedView& view, const std::vector<RunRow>& rows);

 private:
  Status Write(const OwnedView& view, std::span<const RunRow> rows, WallTime now);

  const LossPorts ports_;
};

}  // namespace carillon::scheduler
