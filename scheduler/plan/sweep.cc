#include "scheduler/plan/sweep.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

// Jitter delays a run by less than kJitterMax, so runs of older fires are due.
constexpr Duration kNudgeLooksBack = kJitterMax + 1min;

}  // namespace

Sweep::Sweep(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      horizon_(options_.horizon),
      overdue_after_(options_.overdue_after),
      rng_(options_.seed),
      backoff_({.first = 50ms, .longest = 2s}) {}

void Sweep::Nudge(const ChangedWork& work) {
  {
    MutexLock lock(mu_);
    if (known_.contains({work.job_no, work.run})) return;
    if (known_.size() < options_.nudges_max) {
      known_.insert({work.job_no, work.run});
      nudged_.push_back(work);
      return;
    }
  }
  ports_.metrics.counter("carillon_queue_rejections_total", "nudges").Add();
  due_nudged_ = true;
}

SteadyTime Sweep::Step(SteadyTime now) {
  if (now < retry_at_) return retry_at_;
  const auto view = ports_.segments.View();
  if (!ports_.cluster.Now()) return now + options_.page_interval;
  TakeNudged();
  if (!LookAhead(*view) || !LookAtNudged(*view)) {
    Failed({ErrorCode::kUnavailable, "the look-ahead is not finished"}, now);
    return retry_at_;
  }
  NoteDrops(now);
  if (now >= next_due_look_ && !LookAtDue(*view, now)) return retry_at_;
  return ahead_ || !looks_.empty() ? now : next_due_look_;
}

void Sweep::BeginAhead(const OwnedView& view) {
  // A run that an earlier owner planned up to its horizon may be due by the longest jitter later.
  Ahead ahead{.until = *ports_.cluster.Now() + horizon_.load() + kJitterMax};
  std::map<SegmentId, Epoch> still;
  for (const OwnedSegment& owned : view.all()) {
    if (!owned.active) continue;
    const auto seen = seen_.find(owned.segment);
    if (seen == seen_.end() || seen->second != owned.epoch) {
      ahead.taken[owned.segment] = owned.epoch;
    } else {
      still.insert(*seen);
    }
  }
  seen_ = std::move(still);
  if (!ahead.taken.empty()) ahead_ = std::move(ahead);
}

bool Sweep::LookAhead(const OwnedView& view) {
  for (size_t page = 0; page < options_.pages_per_step; ++page) {
    if (ahead_ && AheadOf(view).empty()) FinishAhead();
    if (!ahead_) BeginAhead(view);
    if (!ahead_) return true;
    const auto found =
        ports_.store.ScanPending(AheadOf(view), ahead_->until, ahead_->after, options_.page_rows);
    if (!found.ok()) return false;
    ahead_->after = found->next;
    const bool room = Offer(view, found->runs);
    // If the feed is full, the periodic scan finds the runs that were not fed when they are due.
    if (!room) ports_.feed.NoteDropped(ahead_->until);
    if (!room || !found->next) FinishAhead();
  }
  // Further segments may have been taken during this scan.
  if (!ahead_) BeginAhead(view);
  return true;
}

// Returns the segments of the scan that are still held under the epoch with which the scan began.
std::vector<SegmentId> Sweep::AheadOf(const OwnedView& view) const {
  std::vector<SegmentId> held;
  for (const auto& [segment, epoch] : ahead_->taken) {
    if (view.Holds(segment, epoch)) held.push_back(segment);
  }
  return held;
}

void Sweep::FinishAhead() {
  for (const auto& [segment, epoch] : ahead_->taken) seen_[segment] = epoch;
  ahead_.reset();
}

bool Sweep::LookAtNudged(const OwnedView& view) {
  for (size_t page = 0; !looks_.empty() && page < options_.pages_per_step;) {
    Nudged& look = looks_.front();
    Begun(look.work);
    if (view.Find(look.work.segment) == nullptr) {
      looks_.pop_front();
      continue;
    }
    const JobWindow window = WindowOf(look.work);
    const auto found = ports_.store.ScanPendingOfJob(window, look.after, options_.page_rows);
    if (!found.ok()) return false;
    ++page;
    look.after = found->next;
    look.seen = look.seen || std::ranges::any_of(found->runs, [&](const RunRow& row) {
                  return row.key == look.work.run;
                });
    const bool room = Offer(view, found->runs);
    if (!room) ports_.feed.NoteDropped(window.to + kJitterMax);
    if (look.work.run && !found->next && !look.seen) ports_.gone(*look.work.run);
    if (!room || !found->next) looks_.pop_front();
  }
  return true;
}

// Returns the range of fires to scan after a change. The range reaches back only kNudgeLooksBack.
// Runs of older fires are due, or wait for a retry that this process wrote. Both kinds are found
// without a nudge.
JobWindow Sweep::WindowOf(const ChangedWork& work) const {
  if (work.run) return {.job_no = work.job_no, .from = work.run->fire, .to = work.run->fire};
  const WallTime now = *ports_.cluster.Now();
  return {.job_no = work.job_no, .from = now - kNudgeLooksBack, .to = now + horizon_.load()};
}

// After runs were dropped from memory, each round reads every due run until all of the dropped runs
// are due: none was planned further ahead than a horizon, and jitter delays it by at most an hour.
void Sweep::NoteDrops(SteadyTime now) {
  const bool nudged = due_nudged_.exchange(false);
  if (nudged) next_due_look_ = now;
  const auto last_due = ports_.feed.TakeDropped();
  if (!last_due && !nudged) return;
  Duration ahead = horizon_.load();
  if (last_due && *last_due > *ports_.cluster.Now()) {
    const Duration most = ahead + kJitterMax;
    ahead = std::clamp(*last_due - *ports_.cluster.Now(), ahead, most);
  }
  dropped_until_ = std::max(dropped_until_, now + ahead + options_.every);
  // Extends the current round to the present time. So the round also reads the runs that became due
  // recently. Otherwise it would skip them, because they are expected to be in memory
  // (LeftToMemory in due_look.h).
  if (round_) round_->until = *ports_.cluster.Now();
}

DueLookFacts Sweep::FactsOfDue(SteadyTime now) const {
  return {.in_memory = ports_.in_memory(),
          .seen = round_ ? round_->seen : 0,
          .page_rows = options_.page_rows,
          .busy = options_.in_memory_busy,
          .dropped = now < dropped_until_,
          .overdue_after = overdue_after_.load()};
}

bool Sweep::LookAtDue(const OwnedView& view, SteadyTime now) {
  next_due_look_ = now + options_.every;
  const std::vector<SegmentId> segments = view.ActiveSegments();
  if (segments.empty()) return true;
  if (!round_) round_ = Round{.until = *ports_.cluster.Now() - LeftToMemory(FactsOfDue(now))};
  const auto page =
      ports_.store.ScanPending(segments, round_->until, round_->after, options_.page_rows);
  if (!page.ok()) {
    Failed(page.error(), now);
    return false;
  }
  backoff_.Reset();
  std::vector<RunRow> rows = page->runs;
  if (failpoint::Broken("sweep.lower_bound")) {
    const WallTime bound = *ports_.cluster.Now() - options_.every;
    std::erase_if(rows, [&](const RunRow& row) { return row.due < bound; });
  }
  if (!Offer(view, rows)) return true;  // the feed is full: this page is read again
  if (!page->next) {
    round_.reset();
    return true;
  }
  round_->after = page->next;
  round_->seen += page->runs.size();
  if (ContinuesAtOnce(FactsOfDue(now))) next_due_look_ = now + options_.page_interval;
  return true;
}

bool Sweep::Offer(const OwnedView& view, const std::vector<RunRow>& rows) {
  std::vector<PendingRun> runs;
  runs.reserve(rows.size());
  for (const RunRow& row : rows) {
    const OwnedSegment* owned = view.Find(row.segment);
    if (owned != nullptr) runs.push_back(ToPendingRun(row, owned->epoch));
  }
  if (runs.empty()) return true;
  if (ports_.warm) ports_.warm(runs);
  if (ports_.feed.Offer(std::move(runs)).ok()) return true;
  ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  return false;
}

void Sweep::TakeNudged() {
  MutexLock lock(mu_);
  for (ChangedWork& work : nudged_) looks_.push_back({.work = std::move(work)});
  nudged_.clear();
}

// Call it when the scan of `work` begins. A later change then requests another scan, because this
// scan may already have passed the changed rows.
void Sweep::Begun(const ChangedWork& work) {
  MutexLock lock(mu_);
  known_.erase({work.job_no, work.run});
}

void Sweep::Failed(const Error& error, SteadyTime now) {
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(error.code)).Add();
  retry_at_ = now + backoff_.Next(rng_);
}

}  // namespace carillon::scheduler
