// The end of a run's wait for runs of other jobs, as both stores write it. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/domain/run/run_state.h"

namespace carillon {

// A run whose wait is to end, as the owner knew it when it judged.
struct WaitItem {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  int64_t def_version = 0;
  bool expired = false;    // its limit is over; otherwise all that it waited for has come
  std::string error = {};  // of an expired one: the sentence for people
};

// kConflict: the run does not wait for runs of other jobs, so a person cannot release it.
Status CheckReleasable(const RunRow& row);

// True if the run waits as when it was judged. An edit of its job may ask for something else.
bool StillWaits(const RunRow& row, const WaitItem& item);

// The `due` of a run that waits no longer. A node is blocked from then on: its workflow's step
// releases it.
WallTime DueAfterWait(const RunRow& row, bool job_paused, WallTime now);

// The end of a run whose limit is over.
RunChange UnmetChange(const RunRow& row);

// The `due` of a run after an edit that makes its job wait, or no longer; then its fire, without
// jitter, as of every run whose wait ends. nullopt: it stays, if it is not planned ahead: one that
// is due is not called back, and one that waits for nothing any more is released by the next look.
std::optional<WallTime> DueAfterEdit(const RunRow& row, bool waits, WallTime now);

// The `due` of a node's run that is made PENDING again by a retry of its workflow, from its row
// before: who has not finished to wait waits on. A node that waited in vain does not wait again.
WallTime DueOfNodeAgain(const RunRow& before);

}  // namespace carillon
