// Ends the waits of runs for runs of other jobs (common/domain/upstream).
//
// Place    Between the plan of a run and its wheel: the run has no due time until its wait ends. A
//          node of a workflow is blocked from then on, and the workflow loop releases it.
// Threads  One loop calls Step.
// Time     Looks every two seconds, in steps of one page or one write. While the whole cluster is
//          paused it releases runs, but none fails; nor in the first 15 minutes after a pause, or
//          after a segment was taken: the other jobs need time to catch up, too.
// Errors   A run whose write fails alone is set aside for a while.
// Always   What the runs of the other job are is read after its schedules: a plan writes both at
//          once. The store ends only waits of runs that have not changed since they were judged.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/upstream_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/ends/wait_questions.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/settings/upgrade_watch.h"

namespace carillon::scheduler {

class UpstreamWaits final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 2s;
  static constexpr Duration kNoExpiryFor = 15min;
  static constexpr size_t kPageRows = 1'000;
  static constexpr size_t kRunsPerLook = 10'000;  // the next look goes on with the others
  static constexpr size_t kTargetsPerRead = 100;
  static constexpr size_t kAlonePerLook = 20;
  static constexpr size_t kItemsPerWrite = 500;

  struct Ports {
    OwnerPorts owner;
    UpstreamStore& store;
    FiringStore& firing;
    RunFeed& feed;
    const UpgradeWatch& upgrade;
  };
  explicit UpstreamWaits(const Ports& ports) : ports_(ports), scan_("waits", ports.owner) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  using Look = OwnerScan::Look;
  enum class Phase { kScan, kJudge, kWrite };

  // Takes the next step of a look. Returns true if another one follows.
  bool Advance(const Look& look);
  bool ScanPage(const Look& look);
  bool JudgeAll(const Look& look);
  bool WriteBatch(const Look& look);
  // Return false if the store did not answer.
  bool LoadRules();
  bool ReadFacts(WaitQuestions& questions);
  bool ReadAlone(WaitQuestions& questions);
  bool MayExpire(const Look& look, SegmentId segment) const;
  Status EndWaits(const Look& look, std::span<const WaitItem> items);
  void Tell(const Look& look, const std::vector<WaitItem>& items,
            const std::vector<WaitEffect>& effects);

  const Ports ports_;
  OwnerScan scan_;
  SteadyTime next_{};
  std::optional<SteadyTime> last_paused_;
  Phase phase_ = Phase::kScan;
  std::optional<RunKey> after_;  // of the scan, which may take several looks
  int64_t counted_ = 0;          // since the scan began
  size_t alone_from_ = 0;        // rotates
  std::vector<AwaitingRun> runs_;
  std::vector<WaitItem> items_;
  // Of the versions whose runs wait; nullopt: it cannot be read.
  std::map<JobVersionKey, std::optional<WaitRules>> rules_;
};

}  // namespace carillon::scheduler
