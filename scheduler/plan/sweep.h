// Finds PENDING runs that no memory knows: retries, runs made by hand, what an earlier owner
// planned, what did not fit into the wheel, what a full queue dropped.
//
// Three looks. At a takeover: everything due up to the horizon, once. From then on: everything due,
// with no lower bound, a page at a time from a cursor that wraps; due by now while there is little,
// or memory has lost something, otherwise overdue for longer than memory takes (due_look.h). After
// a nudge: the runs of one job. Other future runs are not looked at again: this process planned or
// found them itself (docs/adr/0002-sweep-lookahead.md).
//
// Place    Step 2 of docs/life-of-a-run.md. What it finds is offered to the firing loop, which
//          knows what it has already.
// Threads  One loop calls Step; Nudge is thread-safe.
// Always   A Step reads at most `pages_per_step` pages of a takeover and of nudges: the planner,
//          which shares the loop, gets its turn between them.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "common/base/backoff.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/firing_store.h"
#include "scheduler/assign/segment_table.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/plan/due_look.h"

namespace carillon::scheduler {

class Sweep final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    const ClusterClock& cluster;
    const SegmentTable& segments;
    RunFeed& feed;
    Metrics& metrics;
  };
  struct Options {
    Duration every = 500ms;
    Duration page_gap = 20ms;  // between pages of one round
    Duration horizon = 30s;    // of the look at a takeover
    size_t page_rows = kBatchRowsMax;
    size_t pages_per_step = 4;       // of the looks ahead, and of the looks at jobs
    size_t nudges_max = 10'000;      // jobs and runs that wait for their look
    Duration overdue_after = 5s;     // the dispatch timeout
    size_t in_memory_busy = 20'000;  // due runs: above it, one page a round is enough
    std::function<size_t()> in_memory = [] { return size_t{0}; };  // due runs that memory has
    std::function<void(const std::vector<PendingRun>&)> warm = {};
    uint64_t seed = 1;
  };
  Sweep(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
  // Look at this run now, or at those of this job as far as the horizon: an edit may have moved
  // runs that are planned. Beyond `nudges_max` it is counted and left to the look at what is due.
  void Nudge(const ChangedWork& work);
  // Look at what is due now, everywhere.
  void NudgeDue() { due_nudged_ = true; }
  // Thread-safe.
  void SetOverdueAfter(Duration after) { overdue_after_ = after; }
  // Thread-safe. A look never becomes shorter: what was planned while it was longer is still ahead.
  void RaiseHorizon(Duration horizon) { horizon_ = std::max(horizon_.load(), horizon); }

 private:
  using Cursor = std::optional<std::pair<WallTime, RunKey>>;

  // A look ahead that is not finished.
  struct Ahead {
    std::map<SegmentId, Epoch> taken;
    WallTime until{};
    Cursor after = {};
  };
  // A look at a job or a run that is not finished.
  struct Nudged {
    ChangedWork work;
    std::optional<RunKey> after = {};
  };

  // A look at what is due, from the oldest run to those of `until`, that is not finished.
  struct Round {
    WallTime until{};
    Cursor after = {};
    size_t seen = 0;
  };

  // Each of the looks returns false when the store did not answer.
  bool LookAhead(const OwnedView& view);
  bool LookAtNudged(const OwnedView& view);
  bool LookAtDue(const OwnedView& view, SteadyTime now);
  void NoteDrops(SteadyTime now);
  DueLookFacts FactsOfDue(SteadyTime now) const;
  void BeginAhead(const OwnedView& view);
  void FinishAhead();
  std::vector<SegmentId> AheadOf(const OwnedView& view) const;
  JobWindow WindowOf(const ChangedWork& work) const;
  // False when the feed is full.
  bool Offer(const OwnedView& view, const std::vector<RunRow>& rows);
  void TakeNudged();
  void Begun(const ChangedWork& work);
  void Failed(const Error& error, SteadyTime now);

  const Ports ports_;
  const Options options_;
  std::atomic<Duration> horizon_;
  std::atomic<Duration> overdue_after_;
  Rng rng_;
  Backoff backoff_;
  std::map<SegmentId, Epoch> seen_;  // takeovers looked at
  std::optional<Ahead> ahead_;
  std::deque<Nudged> looks_;  // those of `nudged_` that were taken
  std::optional<Round> round_;
  SteadyTime dropped_until_{};  // runs that memory has lost may become due until then
  SteadyTime next_due_look_{};
  SteadyTime retry_at_{};
  std::atomic<bool> due_nudged_{false};
  Mutex mu_;
  // Looks that have not begun, those of `looks_` among them; a job without a run stands for all of
  // its runs.
  std::set<std::pair<JobNo, std::optional<RunKey>>> known_ GUARDED_BY(mu_);
  std::vector<ChangedWork> nudged_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
