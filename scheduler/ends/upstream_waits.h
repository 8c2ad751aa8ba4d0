// Ends the waits of runs for runs of other jobs (common/domain/upstream).
//
// Place    Between the plan of a run and its wheel: the run has no due time until its wait ends. A
//          node of a workflow is blocked from then on, and the workflow loop releases it.
// Threads  One loop calls Step.
// Time     Looks every two seconds, in steps of one page, a bounded number of questions or one
//          write. More runs than one look takes are a round of looks, with rests as long as each
//          took, so that a run that has been met waits for few seconds, and others have half of
//          the thread's time. While the whole cluster is paused it releases runs, but none fails;
//          nor in the first 15 minutes after a pause, a takeover of the segment, or a minute
//          without a look, because the store was away, the process stopped or its host suspended:
//          the other jobs need time to catch up, too.
// Errors   A run whose write fails alone is set aside for a while.
// Always   The store ends only waits of runs that have not changed since they were judged.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/upstream_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/ends/upstream_reader.h"
#include "scheduler/ends/wait_questions.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

class UpstreamWaits final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 2s;
  static constexpr Duration kNoExpiryFor = carillon::kNoExpiryFor;
  static constexpr Duration kUnseenMax = 1min;
  static constexpr size_t kPageRows = 1'000;
  static constexpr size_t kRunsPerLook = 10'000;  // the next look goes on with the others
  static constexpr Duration kRestMin = 100ms;
  static constexpr size_t kItemsPerWrite = 500;

  struct Ports {
    OwnerPorts owner;
    UpstreamStore& store;
    FiringStore& firing;
    RunFeed& feed;
    const UpgradeWatch& upgrade;
  };
  explicit UpstreamWaits(const Ports& ports)
      : ports_(ports), scan_("waits", ports.owner), reader_(ports.store, scan_) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  using Look = OwnerScan::Look;
  enum class Phase { kScan, kJudge, kWrite };

  void Rest();
  // Notes that the store did not answer in this look. Returns false.
  bool Fail();
  // The time of the next look. `now`: this one has ended.
  SteadyTime AfterLook(SteadyTime now);
  // Notes that the store has answered in this step or the one before.
  void NoteSeen(const Look& look);
  // Takes the next step of a look. Returns true if another one follows.
  bool Advance(const Look& look);
  bool ScanPage(const Look& look);
  bool JudgeSome(const Look& look);
  bool WriteBatch(const Look& look);
  WaitQuestions TakeQuestions();
  // Return false if the store did not answer.
  bool LoadRules();
  bool Judge(const Look& look, WaitQuestions& questions);
  bool IsLeftOut(const WaitRules& rules) const;
  bool MayExpire(const Look& look, SegmentId segment) const;
  Status EndWaits(const Look& look, std::span<const WaitItem> items);
  void Tell(const Look& look, const std::vector<WaitItem>& items,
            const std::vector<WaitEffect>& effects);

  const Ports ports_;
  OwnerScan scan_;
  UpstreamReader reader_;
  SteadyTime next_{};
  std::optional<SteadyTime> round_began_;  // of the present round
  std::optional<SteadyTime> look_began_;   // of the present look
  bool failed_ = false;                    // likewise
  std::optional<SteadyTime> last_stop_;  // the cluster was paused, or nothing was seen for a while
  std::optional<WallTime> seen_;
  Phase phase_ = Phase::kScan;
  std::optional<RunKey> after_;  // of the scan, which may take several looks
  int64_t counted_ = 0;          // since the scan began
  std::vector<AwaitingRun> runs_;
  std::vector<WaitItem> items_;
  // Of the versions whose runs wait; nullopt: it cannot be read.
  std::map<JobVersionKey, std::optional<WaitRules>> rules_;
};

}  // namespace carillon::scheduler
