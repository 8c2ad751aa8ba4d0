// Pauses the jobs whose runs fail in a row: pause_after_failures (common/domain/run/streak.h).
//
// Threads  One loop calls Step.
// Time     Looks every two seconds at the jobs with dead letters of the last minute, because a
//          letter may be committed long after its time. After a takeover, of the last ten minutes.
// Errors   A job whose pause fails is set aside for a while. Until it succeeds, each look goes back
//          as far as that one.
// Always   The store decides again, in the fenced transaction that pauses the job. So what is
//          remembered here only saves reads.
#pragma once

#include <map>
#include <optional>

#include "common/base/loops/loop.h"
#include "common/ports/store/streak_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

class PauseWatch final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 2s;
  static constexpr Duration kLookBack = 1min;
  static constexpr Duration kLookBackAnew = 10min;
  static constexpr Duration kLookBackMax = 1h;  // for jobs that could not be paused
  static constexpr size_t kJobsPerStep = 100;

  struct Ports {
    OwnerPorts owner;
    StreakStore& store;
    const UpgradeWatch& upgrade;
  };
  explicit PauseWatch(const Ports& ports) : ports_(ports), scan_("pauses", ports.owner) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  using Look = OwnerScan::Look;
  // What was seen of a job whose streak was not full.
  struct Seen {
    int64_t version = 0;
    int64_t letters = 0;
    uint64_t newest_letter = 0;
    bool operator==(const Seen&) const = default;
  };

  // The time since when the dead letters of this round are looked at.
  WallTime Since(const Look& look);
  // Looks at one page. Returns true if there are more.
  bool LookAtPage(const Look& look);
  // Return true unless an error leaves the job to a later look.
  bool Judge(const Look& look, const FailingJob& job);
  bool Pause(const Look& look, const FailingJob& job, int64_t failures);

  const Ports ports_;
  OwnerScan scan_;
  SteadyTime next_{};
  // Of the round, which may take several steps.
  std::optional<WallTime> since_;
  WallTime begun_{};
  std::optional<JobNo> after_;
  bool left_ = false;  // an error has left a job to a later look
  std::map<JobNo, Seen> seen_;
  std::map<JobNo, Seen> seen_before_;
  // Of the last round without errors.
  WallTime covered_{};
  Fence covered_segments_;
};

}  // namespace carillon::scheduler
