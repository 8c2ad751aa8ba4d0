#include "scheduler/recover/presumed_runs.h"

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {

void PresumedRuns::Note(const LostReport& report, Epoch epoch, WallTime dead_at) {
  if (runs_.size() >= kRunsMax && !runs_.contains(report.key)) {
    scanned_.erase(report.segment);
    return;
  }
  runs_.insert_or_assign(report.key, Presumed{report, epoch, dead_at});
}

SteadyTime PresumedRuns::Step(SteadyTime now) {
  if (now < next_) return next_;
  next_ = now + kEvery;
  const auto view = ports_.segments.View();
  DropOthers(*view);
  const Status scanned = ScanTaken(*view, now);
  if (!scanned.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(scanned.code())).Add();
  }
  const auto cluster_now = ports_.cluster.SettledNow();
  if (!cluster_now || settings_.paused()) return next_;
  const std::vector<Presumed> due = Due(*view, now, *cluster_now);
  if (due.empty()) return next_;
  // An error has been counted by FencedWriter; the runs are due again at the next look.
  static_cast<void>(Bisect(
      std::span<const Presumed>(due),
      [&](std::span<const Presumed> some) { return Write(*view, some, *cluster_now); },
      [&](const Presumed& run, const Error& error) {
        log::Error("recover", "run {}: the store rejects that it is dead: {}",
                   EncodeRunId(run.report.key), error.message);
      }));
  return next_;
}

void PresumedRuns::DropOthers(const OwnedView& view) {
  std::erase_if(scanned_,
                [&](const auto& entry) { return !view.Holds(entry.first, entry.second); });
  std::erase_if(runs_, [&](const auto& entry) {
    return !view.Holds(entry.second.report.segment, entry.second.epoch);
  });
}

Status PresumedRuns::ScanTaken(const OwnedView& view, SteadyTime now) {
  std::vector<SegmentId> taken;
  for (const OwnedSegment& owned : view.all()) {
    const bool settled =
        now >= owned.taken + kHostsMaySpeak || failpoint::Broken("presume.takeover");
    if (owned.active && settled && !scanned_.contains(owned.segment)) {
      taken.push_back(owned.segment);
    }
  }
  if (taken.empty() || runs_.size() >= kRunsMax) return {};
  // Before the scan: Note takes a segment back out whose runs do not all fit.
  for (const SegmentId segment : taken) scanned_[segment] = view.Find(segment)->epoch;
  std::optional<RunCursor> after;
  do {
    const auto page = ports_.store.ScanPresumed(taken, after, kBatchRowsMax);
    if (!page.ok()) {
      for (const SegmentId segment : taken) scanned_.erase(segment);
      return page.error();
    }
    for (const RunRow& row : page->runs) {
      const OwnedSegment* owned = view.Find(row.segment);
      const auto dead_at = PresumedDeadAt(row);
      if (owned == nullptr || !dead_at) continue;
      Note({row.key, row.segment, row.job_no, row.attempt, row.claim_token}, owned->epoch,
           *dead_at);
    }
    after = page->next;
  } while (after);
  return {};
}

std::vector<PresumedRuns::Presumed> PresumedRuns::Due(const OwnedView& view, SteadyTime now,
                                                      WallTime cluster_now) const {
  std::vector<Presumed> due;
  for (const auto& [key, run] : runs_) {
    if (due.size() == kBatchRowsMax) break;
    const OwnedSegment* owned = view.Find(run.report.segment);
    const bool settled = owned != nullptr && (now >= owned->taken + kHostsMaySpeak ||
                                              failpoint::Broken("presume.takeover"));
    const bool is_time = run.dead_at <= cluster_now || failpoint::Broken("presume.early");
    if (settled && is_time) due.push_back(run);
  }
  return due;
}

Status PresumedRuns::Write(const OwnedView& view, std::span<const Presumed> due,
                           WallTime cluster_now) {
  std::vector<LostReport> reports;
  std::vector<SegmentId> segments;
  for (const Presumed& run : due) {
    reports.push_back(run.report);
    segments.push_back(run.report.segment);
  }
  const Fence fence = view.FenceFor(std::move(segments));
  const auto effects = ports_.fences.Run(
      "presume", fence, [&] { return ports_.store.Presume(reports, fence, cluster_now); });
  if (!effects.ok()) return effects.error();
  // Those without an effect have changed meanwhile.
  for (const LostReport& report : reports) runs_.erase(report.key);
  for (const RunEffect& effect : *effects) {
    log::Warn("recover", "run {} presumed dead: now={}", EncodeRunId(effect.key),
              Name(effect.state));
  }
  TellEffects(ports_, view, "presumed", *effects);
  return {};
}

}  // namespace carillon::scheduler
