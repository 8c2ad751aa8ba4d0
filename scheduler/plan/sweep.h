// Finds PENDING runs that are not in memory. They are:
// - retries and manual runs;
// - runs that an earlier owner planned;
// - runs that did not fit into the wheel, or that a full queue dropped.
//
// There are three kinds of scan:
// - After a takeover: every run of the taken segments due up to the horizon, once.
// - Periodically: due runs, oldest first and without a lower bound, a page at a time. After the
//   last page the next round begins with the oldest runs. While memory has few due runs, or has
//   dropped some, a round reads all runs due by now. Otherwise a round reads only runs that are
//   overdue for longer than memory needs to claim or republish them (due_look.h).
// - After a nudge: one run, or the runs of one job.
// Other future runs are not scanned, because this process has planned or found them
// itself (docs/adr/0002-sweep-lookahead.md).
//
// Place    Step 2 of docs/life-of-a-run.md. The runs found are offered to the firing loop, which
//          recognises the runs that it already has.
// Threads  One loop calls Step; Nudge is thread-safe.
// Always   A Step reads at most `pages_per_step` pages for takeovers and as many for nudges. So the
//          planner, which shares the loop, gets its turn.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
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
    std::function<size_t()> in_memory = [] { return size_t{0}; };  // due runs in memory
    // Loads the definitions that these runs need into the cache. Called before the runs are fed.
    std::function<void(const std::vector<PendingRun>&)> warm = {};
    // A run that changed is not PENDING any more.
    std::function<void(const RunKey&)> gone = [](const RunKey&) {};
  };
  struct Options {
    Duration every = 500ms;         // between rounds of the scan for due runs
    Duration page_interval = 20ms;  // between pages of one round
    Duration horizon = 30s;         // how far ahead the scan after a takeover reads
    size_t page_rows = kBatchRowsMax;
    size_t pages_per_step = 4;   // for takeovers and for nudges, each
    size_t nudges_max = 10'000;  // jobs and runs that wait for their scan
    // = scheduler.dispatch_timeout_ms: within this time, runs in memory are claimed or
    // published again.
    Duration overdue_after = 5s;
    size_t in_memory_busy = 20'000;  // if memory has this many due runs, one page a round is read
    uint64_t seed = 1;
  };
  Sweep(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
  // Thread-safe. Requests a scan of the changed run, or of the changed job's runs up to the
  // horizon: an edit may have moved runs that are already planned. If `nudges_max` scans are
  // waiting, requests a scan of all due runs instead.
  void Nudge(const ChangedWork& work);
  // Thread-safe. Requests a scan of all due runs in the next Step.
  void NudgeDue() { due_nudged_ = true; }
  // Thread-safe.
  void SetOverdueAfter(Duration after) { overdue_after_ = after; }
  // Thread-safe. Never shortens the horizon. Runs that were planned under a longer horizon may be
  // due after the end of a shorter one.
  void RaiseHorizon(Duration horizon) { horizon_ = std::max(horizon_.load(), horizon); }

 private:
  using Cursor = std::optional<std::pair<WallTime, RunKey>>;

  // An unfinished scan after a takeover. It reads runs that are due up to the horizon.
  struct Ahead {
    std::map<SegmentId, Epoch> taken;
    WallTime until{};
    Cursor after = {};
  };
  // An unfinished scan of a job or a run.
  struct Nudged {
    ChangedWork work;
    std::optional<RunKey> after = {};
    bool seen = false;  // the run
  };

  // An unfinished scan of due runs. It reads from the oldest runs to those due by `until`.
  struct Round {
    WallTime until{};
    Cursor after = {};
    size_t seen = 0;
  };

  // Each scan returns false if the store did not answer.
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
  std::map<SegmentId, Epoch> seen_;  // takeovers whose scan is done
  std::optional<Ahead> ahead_;
  std::deque<Nudged> looks_;  // taken from `nudged_` by the loop
  std::optional<Round> round_;
  // Runs that were dropped from memory may become due until this time.
  SteadyTime dropped_until_{};
  SteadyTime next_due_look_{};
  SteadyTime retry_at_{};
  std::atomic<bool> due_nudged_{false};
  Mutex mu_;
  // Requested scans that have not begun, including the scans in `looks_`. A key without a run means
  // all runs of the job.
  std::set<std::pair<JobNo, std::optional<RunKey>>> known_ GUARDED_BY(mu_);
  std::vector<ChangedWork> nudged_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
