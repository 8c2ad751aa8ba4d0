// Takes lost attempts of handlers for dead at the time that presume_dead_s of their job gives.
//
// Place    After step 10 of docs/life-of-a-run.md, for attempts whose host stays silent.
// Threads  One loop calls everything.
// Time     No run is judged in the first kHostsMaySpeak of an owner, by this member's steady clock:
//          after an outage of all members, the hosts must be able to speak first. Nor while the
//          cluster is paused, nor before the settled cluster time has reached its time.
// Errors   If nothing was written, the runs are judged again at the next look. If the outcome is
//          unknown, the segments are taken again and scanned.
// Always   The times are known from the effects of losses, and from one scan of each segment that
//          was taken; never from a scan by time.
#pragma once

#include <map>
#include <span>

#include "common/base/live_settings.h"
#include "common/base/loops/loop.h"
#include "scheduler/recover/loss_effects.h"

namespace carillon::scheduler {

class PresumedRuns final : public Stepper {
 public:
  static constexpr Duration kHostsMaySpeak = 60s;
  static constexpr Duration kEvery = 1s;
  static constexpr size_t kRunsMax = 100'000;  // a segment with more is scanned again later

  PresumedRuns(const LossPorts& ports, const LiveSettings& settings)
      : ports_(ports), settings_(settings) {}

  // The attempt became HELD, and is taken for dead at `dead_at`.
  void Note(const LostReport& report, Epoch epoch, WallTime dead_at);
  SteadyTime Step(SteadyTime now) override;
  size_t size() const { return runs_.size(); }

 private:
  struct Presumed {
    LostReport report;
    Epoch epoch;
    WallTime dead_at;
  };
  void DropOthers(const OwnedView& view);
  Status ScanTaken(const OwnedView& view, SteadyTime now);
  std::vector<Presumed> Due(const OwnedView& view, SteadyTime now, WallTime cluster_now) const;
  Status Write(const OwnedView& view, std::span<const Presumed> due, WallTime cluster_now);

  const LossPorts ports_;
  const LiveSettings& settings_;
  SteadyTime next_{};
  std::map<RunKey, Presumed> runs_;
  std::map<SegmentId, Epoch> scanned_;
};

}  // namespace carillon::scheduler
