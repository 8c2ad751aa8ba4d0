#include "scheduler/ends/pause_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {

SteadyTime PauseWatch::Step(SteadyTime now) {
  if (now < next_) return next_;
  if (!scan_.IsDue(now)) return scan_.Next();
  if (!ports_.upgrade.FeatureOn(kFanOutMigration)) return next_ = now + kLookEvery;
  const auto look = scan_.Begin(now);
  if (!look) return scan_.Next();
  if (!since_) {
    since_ = Since(*look);
    begun_ = look->cluster_now;
  }
  if (LookAtPage(*look)) {
    scan_.Continue();
    return scan_.Next();
  }
  return next_ = now + kLookEvery;
}

WallTime PauseWatch::Since(const Look& look) {
  const Fence owned = look.view->FenceFor(look.segments);
  const bool anew = std::ranges::any_of(owned, [this](const FencedSegment& one) {
    return std::ranges::find(covered_segments_, one) == covered_segments_.end();
  });
  covered_segments_ = owned;
  if (anew || covered_ == WallTime{}) return look.cluster_now - kLookBackAnew;
  return std::min(covered_, look.cluster_now) - kLookBack;
}

bool PauseWatch::LookAtPage(const Look& look) {
  const auto page = ports_.store.ScanFailing(look.segments, *since_, after_, kJobsPerStep);
  if (!scan_.Succeeded(page)) return false;  // the next look goes on here
  for (const FailingJob& job : *page) {
    const bool done = !scan_.IsAside(job.job_no.value()) && Judge(look, job);
    if (!done) left_ = true;
  }
  if (page->size() == kJobsPerStep) {
    after_ = page->back().job_no;
    return true;
  }
  // What was left is looked for once more, as far back.
  covered_ =
      std::exchange(left_, false) ? std::max(*since_ + kLookBack, begun_ - kLookBackMax) : begun_;
  since_.reset();
  after_.reset();
  seen_before_ = std::exchange(seen_, {});
  return false;
}

bool PauseWatch::Judge(const Look& look, const FailingJob& job) {
  const Seen seen{job.rule.version, job.letters, job.newest_letter};
  const auto before = seen_before_.find(job.job_no);
  const bool same = before != seen_before_.end() &&
                    (before->second == seen || (before->second.version == seen.version &&
                                                failpoint::Broken("streak.seen_version")));
  if (!same) {
    const auto streak = ports_.store.ReadStreak(job, look.cluster_now);
    if (!scan_.Succeeded(streak)) return false;
    if (streak->IsFull(job.rule)) return Pause(look, job, streak->failures);
  }
  seen_[job.job_no] = seen;
  return true;
}

bool PauseWatch::Pause(const Look& look, const FailingJob& job, int64_t failures) {
  const std::string subject = fmt::format("job {}", job.job_id.value());
  EndedRuns ended;
  const auto paused = scan_.Write(
      "pause", subject, look, {job.segment}, [&](const Fence& fence, WallTime cluster_now) {
        return ports_.store.PauseFailing(
            job, fence, {.now = cluster_now, .actor = std::string(kStreakActor), .ended = &ended});
      });
  if (!paused.ok()) {
    if (paused.code() == ErrorCode::kNotFound) return true;  // deleted meanwhile
    if (paused.code() != ErrorCode::kFenced) {
      scan_.SetAside(job.job_no.value(), subject, paused.error(), look.now);
    }
    return false;
  }
  if (!*paused) return true;  // edited, or a run has succeeded meanwhile: seen with the next look
  Metrics& metrics = ports_.owner.metrics;
  metrics.counter("carillon_jobs_paused_by_failures_total").Add();
  for (const auto& [state, count] : ended) {
    metrics.counter("carillon_runs_total", Name(state)).Add(count);
  }
  log::Warn("pauses", "{} was paused: {}", subject, StreakSentence(failures));
  return true;
}

}  // namespace carillon::scheduler
