// Drives the warden's journal: steps it, syncs it in time, and decides whether its disk works.
//
// Place    Under WardenCore.
// Threads  The warden's loop; nothing here waits for the device.
// Errors   A failed step is logged and tried again after a while; nothing is lost.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "executor/warden/records/warden_journal.h"

namespace carillon::executor {

class JournalDriver {
 public:
  // `work_directory` must have room too: commands write there.
  JournalDriver(WardenJournal& journal, std::string work_directory)
      : journal_(journal), work_directory_(std::move(work_directory)) {}

  // Submits what is due to the device and collects what is done.
  void Step(SteadyTime now);
  // Requests a sync of changes that nobody waits for (starts, removals), 200 ms after the first of
  // them, so that one sync covers many.
  void SyncOverdue(SteadyTime now);
  SteadyTime NextStep() const;
  // True if one more attempt could be started and recorded; false if this is not known yet. An
  // error gives the reason why no attempt could be started or recorded.
  Result<bool> Ready(SteadyTime now);

 private:
  WardenJournal& journal_;
  const std::string work_directory_;
  bool step_failed_ = false;
  SteadyTime next_step_{};  // earliest retry if step_failed_
  // The last disk failure, kept until something was synced after it: the success of a step that
  // only submitted an order proves nothing.
  std::optional<Error> disk_failure_;
  SegmentLog::Position synced_at_failure_ = 0;
  SteadyTime sync_due_{};
  uint64_t order_seen_ = 0;
  SteadyTime order_since_{};
};

}  // namespace carillon::executor
