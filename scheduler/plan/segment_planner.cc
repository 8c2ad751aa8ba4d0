#include "scheduler/plan/segment_planner.h"

#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr int kConflictsUntilAside = 5;  // of one schedule in a row; edits alone cause fewer
constexpr Duration kConflictWait = 20ms;
constexpr Duration kBacklogLookEvery = 200ms;
constexpr size_t kRowsWorthWriting = 8;  // if a batch has room for fewer rows, it is written

}  // namespace

SegmentPlanner::SegmentPlanner(const Ports& ports, Options options)
    : ports_(ports),
      options_(std::move(options)),
      horizon_(options_.horizon),
      rng_(options_.seed),
      backoff_({.first = 50ms, .longest = 2s}),
      schedules_(options_.schedules_cached),
      pace_(options_.near) {}

SteadyTime SegmentPlanner::Step(SteadyTime now) {
  const bool nudged = nudged_.exchange(false);
  if (!nudged && now < next_scan_) return next_scan_;
  if (nudged) scan_.reset();
  if (ports_.settings.paused() && !failpoint::Broken("pause.plan"))
    return next_scan_ = now + options_.scan_every;
  const bool room = ports_.backlog() < options_.backlog_max;
  if (accepting_.exchange(room) != room) {
    log::Warn("plan", "{}",
              room ? "planning continues" : "backlog above its limit: planning is paused");
  }
  next_scan_ = now + (room ? options_.scan_every : kBacklogLookEvery);
  if (!room) return next_scan_;
  const SteadyTime began = ports_.clock.Steady();
  if (PlanRound(now)) {
    const SteadyTime ended = ports_.clock.Steady();
    next_scan_ = ended + pace_.Rest(ended - began);
  }
  return next_scan_;
}

// Returns true if there is more to plan now.
bool SegmentPlanner::PlanRound(SteadyTime now) {
  // The version is read before the view. If the view is newer than this version, the scan is
  // repeated needlessly. In the other order a change could be missed.
  const uint64_t version = ports_.segments.version();
  const auto view = ports_.segments.View();
  const std::vector<SegmentId> segments = view->ActiveSegments();
  const auto cluster_now = ports_.cluster.Now();
  if (segments.empty() || !cluster_now) return false;
  if (forget_.exchange(false)) {
    schedules_.Clear();
    aside_.clear();
    moved_for_.reset();
  }
  if (now - asides_looked_at_ >= options_.set_aside) ForgetOldAsides(now);
  if (ScanIsOld(version, now)) scan_.reset();
  if (!scan_ && !StartScan(*view, *cluster_now, version, now)) return false;
  scan_->segments_version = version;
  scan_->times.now = *cluster_now;
  const size_t batches = pace_.urgent() ? options_.batches_per_step : 1;
  for (size_t batch = 0; scan_->next < scan_->due.size(); ++batch) {
    if (batch == batches) return true;
    const std::vector<PlannedSchedule> planned = TakeBatch(*scan_, now);
    if (planned.empty()) continue;
    if (!Write(*view, planned, now)) {
      scan_.reset();
      return false;
    }
  }
  next_scan_ = std::min(next_scan_, scan_->at + options_.scan_every);
  scan_.reset();
  return more_;
}

// True if the scan must be repeated: after `scan_every`, or when the owned segments have changed.
// Edits and changes of ownership make the schedules of an old scan conflict when they are written.
bool SegmentPlanner::ScanIsOld(uint64_t segments_version, SteadyTime now) const {
  return scan_ &&
         (now - scan_->at >= options_.scan_every || scan_->segments_version != segments_version);
}

void SegmentPlanner::StoreFailed(ErrorCode code, SteadyTime now) {
  ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(code)).Add();
  next_scan_ = now + backoff_.Next(rng_);
}

bool SegmentPlanner::MoveOutdated(const OwnedView& view, const CalendarSet& calendars,
                                  SteadyTime now) {
  std::vector<CalendarAt> newest;
  for (const auto& [name, calendar] : calendars.calendars()) {
    newest.push_back({.number = calendar.number, .version = calendar.version});
  }
  if (newest.empty()) return true;
  const auto outdated =
      ports_.store.ScanOutdated(view.ActiveSegments(), newest, options_.batch_rows);
  if (!outdated.ok()) {
    StoreFailed(outdated.code(), now);
    return false;
  }
  std::vector<PlannedSchedule> moved;
  for (const DueSchedule& due : *outdated) {
    if (IsAside(due.schedule_id, now) || !due.readable) continue;
    const auto compiled = schedules_.Get(due, calendars);
    if (!compiled.ok()) {
      SetAside(due.schedule_id, compiled.error(), now);
      continue;
    }
    moved.push_back(MoveToNewCalendars(due, *compiled, calendars));
  }
  if (!moved.empty() && !Write(view, moved, now)) return false;
  // Whether all were moved shows the next look, because a concurrent edit can be in the way.
  if (outdated->empty()) return true;
  moved_for_.reset();
  return true;
}

// Reads the calendars before the schedules: a schedule with a newer version is left to the
// next scan.
bool SegmentPlanner::StartScan(const OwnedView& view, WallTime cluster_now,
                               uint64_t segments_version, SteadyTime now) {
  auto calendars = ports_.calendars.Read();
  if (!calendars.ok()) {
    StoreFailed(calendars.code(), now);
    return false;
  }
  const std::pair versions((*calendars)->version(), segments_version);
  if (moved_for_ != versions) {
    moved_for_ = versions;
    if (!MoveOutdated(view, **calendars, now)) {
      moved_for_.reset();
      return false;
    }
  }
  const std::vector<SegmentId> segments = view.ActiveSegments();
  const SteadyTime before = std::exchange(paced_at_, now);
  pace_.Grow(now - before, horizon_.load(), ports_.busy());
  const size_t limit = options_.batch_rows + aside_.size();
  auto due = ports_.store.ScanDue(segments, cluster_now + pace_.lead(), limit);
  if (!due.ok()) {
    StoreFailed(due.code(), now);
    return false;
  }
  backoff_.Reset();
  more_ = due->size() == limit;
  const Duration first = due->empty() ? pace_.lead() : due->front().next_fire - cluster_now;
  scan_ = Scan{.at = now,
               .due = std::move(due).value(),
               .times = pace_.Times(cluster_now, first, more_),
               .calendars = std::move(*calendars)};
  scan_->times.calendar_end = cluster_now + kCalendarPlanAhead;
  return true;
}

std::vector<PlannedSchedule> SegmentPlanner::TakeBatch(Scan& scan, SteadyTime now) {
  std::vector<PlannedSchedule> planned;
  size_t rows = 0;
  while (scan.next < scan.due.size() && rows + kRowsWorthWriting <= options_.batch_rows) {
    auto one = PlanOne(scan.due[scan.next++], scan, options_.batch_rows - rows, now);
    if (!one) continue;
    rows += one->rows();
    more_ = more_ || one->more;
    planned.push_back(std::move(*one));
  }
  return planned;
}

// nullopt: the schedule is not planned in this scan.
std::optional<PlannedSchedule> SegmentPlanner::PlanOne(const DueSchedule& due, const Scan& scan,
                                                       size_t rows_max, SteadyTime now) {
  if (IsAside(due.schedule_id, now)) return std::nullopt;
  if (!due.readable) {
    SetAside(due.schedule_id, {ErrorCode::kCorrupt, "its row cannot be read"}, now);
    return std::nullopt;
  }
  const CalendarSet& calendars = *scan.calendars;
  // A job write that was quicker than this scan knows newer calendars.
  if (due.calendar_version > calendars.VersionOf(due.calendars)) return std::nullopt;
  const auto compiled = schedules_.Get(due, calendars);
  if (!compiled.ok()) {
    SetAside(due.schedule_id, compiled.error(), now);
    return std::nullopt;
  }
  if (!calendars.IsPresent(due.calendars, due.calendar_version)) {
    return MoveToNewCalendars(due, *compiled, calendars);
  }
  if (due.calendars.any() && due.next_fire > scan.times.calendar_end) {
    more_ = false;  // only later scans can plan it
    return std::nullopt;
  }
  return PlanSchedule(due, *compiled, scan.times, rows_max);
}

bool SegmentPlanner::Write(const OwnedView& view, std::span<const PlannedSchedule> planned,
                           SteadyTime now) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return false;
  const Status written = Bisect(
      planned,
      [&](std::span<const PlannedSchedule> some) { return Plan(view, some, *cluster_now); },
      [&](const PlannedSchedule& one, const Error& error) { RefuseOne(one, error, now); });
  if (written.ok()) return true;
  // At once with those still owned.
  next_scan_ = EndsOwnership(written.code()) ? now : now + backoff_.Next(rng_);
  return false;
}

Status SegmentPlanner::Plan(const OwnedView& view, std::span<const PlannedSchedule> planned,
                            WallTime cluster_now) {
  std::vector<SegmentId> segments;
  segments.reserve(planned.size());
  for (const PlannedSchedule& one : planned) segments.push_back(one.due.segment);
  const Fence fence = view.FenceFor(std::move(segments));
  const PlanBatch batch = ToBatch(planned);
  CARILLON_TRY(ports_.fences.Run("plan", fence,
                                 [&] { return ports_.store.Plan(batch, fence, cluster_now); }));
  Count(planned, cluster_now);
  if (!failpoint::Hit("plan.before_feed")) Feed(view, planned, cluster_now);
  return {};
}

// A conflict means that an edit, pause or delete was written first. The next scan then reads
// the schedule again. A schedule that conflicts several times in a row has another problem and
// is set aside.
void SegmentPlanner::RefuseOne(const PlannedSchedule& planned, const Error& error, SteadyTime now) {
  const ScheduleId id = planned.due.schedule_id;
  const bool moved = error.code == ErrorCode::kConflict || error.code == ErrorCode::kExists;
  Aside& aside = AsideOf(id, now);
  if (moved && ++aside.conflicts < kConflictsUntilAside) {
    aside.until = now + kConflictWait * aside.conflicts;
    next_scan_ = std::min(next_scan_, aside.until);
    return;
  }
  SetAside(id, error, now);
}

SegmentPlanner::Aside& SegmentPlanner::AsideOf(ScheduleId id, SteadyTime now) {
  if (aside_.size() >= options_.set_aside_max && !aside_.contains(id)) {
    ForgetOldAsides(now);
    if (aside_.size() >= options_.set_aside_max) aside_.clear();  // the next scan finds them again
  }
  return aside_[id];
}

// Forgets schedules that no scan has returned within `set_aside` after the end of their time aside.
// They have another owner now, or were deleted.
void SegmentPlanner::ForgetOldAsides(SteadyTime now) {
  std::erase_if(aside_,
                [&](const auto& entry) { return now - entry.second.until >= options_.set_aside; });
  asides_looked_at_ = now;
}

void SegmentPlanner::SetAside(ScheduleId id, const Error& error, SteadyTime now) {
  ports_.metrics.counter("carillon_schedules_set_aside_total", ErrorCodeName(error.code)).Add();
  log::Error("plan", "schedule set aside for {} s schedule_id={}: {}",
             options_.set_aside.count() / 1'000'000, id.value(), error.message);
  AsideOf(id, now) = {.until = now + options_.set_aside};
}

bool SegmentPlanner::IsAside(ScheduleId id, SteadyTime now) {
  const auto found = aside_.find(id);
  if (found == aside_.end()) return false;
  if (now < found->second.until) return true;
  // The count of conflicts is kept until the schedule is planned.
  if (found->second.conflicts == 0) aside_.erase(found);
  return false;
}

void SegmentPlanner::Feed(const OwnedView& view, std::span<const PlannedSchedule> planned,
                          WallTime now) {
  // Runs that jitter delays beyond the horizon may stay in memory for an hour. Above half of the
  // limit they are left out, because a backlog at the limit stops all planning; the sweep is told
  // to find them when they are due.
  const bool half = ports_.backlog() >= options_.backlog_max / 2;
  const WallTime last_due = half ? now + horizon_.load() : kNever;
  std::vector<PendingRun> runs;
  for (const PlannedSchedule& one : planned) {
    aside_.erase(one.due.schedule_id);
    const OwnedSegment* owned = view.Find(one.due.segment);
    for (const PlannedRun& run : one.runs) {
      if (!IsTime(run.due)) continue;  // it waits for runs of other jobs
      if (run.due > last_due) {
        ports_.feed.NoteDropped(run.due);
        continue;
      }
      runs.push_back({.key = run.key,
                      .job_no = run.job_no,
                      .segment = run.segment,
                      .epoch = owned->epoch,
                      .def_version = run.def_version,
                      .due = run.due,
                      .priority = run.priority,
                      .kind = run.kind,
                      .flags = run.flags});
    }
  }
  if (runs.empty()) return;
  if (ports_.warm) ports_.warm(runs);
  if (!ports_.feed.Push(std::move(runs)).ok()) {
    // The sweep finds these runs when they are due.
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.feed.name()).Add();
  }
}

void SegmentPlanner::Count(std::span<const PlannedSchedule> planned, WallTime now) {
  for (const PlannedSchedule& one : planned) {
    if (!one.runs.empty()) {
      ports_.metrics.counter("carillon_fires_total", Name(one.runs.front().kind))
          .Add(one.runs.size());
    }
    uint64_t misfires = 0;
    for (const PlannedGap& gap : one.gaps) {
      const auto fires = static_cast<uint64_t>(gap.range.count);
      ports_.metrics.counter("carillon_gaps_total", Name(gap.range.reason)).Add(fires);
      misfires += fires;
    }
    for (const PlannedRun& run : one.runs) {
      if (now - run.due > one.due.misfire.grace) ++misfires;
    }
    if (misfires > 0) {
      ports_.metrics.counter("carillon_misfires_total", Name(one.due.misfire.policy)).Add(misfires);
    }
  }
}

}  // namespace carillon::scheduler
