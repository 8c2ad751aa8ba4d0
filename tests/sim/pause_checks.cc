#include "tests/sim/pause_checks.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "scheduler/member/member_options.h"

namespace carillon::sim {
namespace {

enum class FateOfFire { kRun, kMisfireGap, kLimitGap, kEither };

std::string_view Name(FateOfFire fate) {
  switch (fate) {
    case FateOfFire::kRun: return "run";
    case FateOfFire::kMisfireGap: return "misfire";
    case FateOfFire::kLimitGap: return "catch_up_limit";
    case FateOfFire::kEither: return "nothing";
  }
  return "";
}

// The bounds of the moment at which the misfire rules of a job were applied.
struct Moments {
  WallTime first;
  WallTime last;
};

// With policy skip or latest, only the newest due fire runs after a stall of more than 15 s.
FateOfFire FateOfOvertaken(const std::vector<WallTime>& fires, size_t at, const JobDefinition& job,
                           const Moments& planned) {
  const Duration grace = std::max<Duration>(std::chrono::seconds(job.misfire_grace_s), 5s);
  const Duration window = std::chrono::seconds(job.catch_up_window_s);
  const WallTime fire = fires[at];
  const bool may_be_overtaken = at + 1 < fires.size() && fires[at + 1] <= planned.last;
  if (may_be_overtaken) {
    // Fires that are not in the list were planned before the pause, or not: the first one of the
    // list that is late tells of the stall in any case.
    const bool stalled = fires.front() < planned.first - std::min<Duration>(grace, 15s);
    return stalled && fires[at + 1] <= planned.first ? FateOfFire::kMisfireGap
                                                     : FateOfFire::kEither;
  }
  if (fire >= planned.last - grace) return FateOfFire::kRun;
  const bool skip = job.misfire_policy == MisfirePolicy::kSkip;
  if (fire >= planned.first - grace) {
    return !skip && fire >= planned.last - window ? FateOfFire::kRun : FateOfFire::kEither;
  }
  if (skip || fire < planned.first - window) return FateOfFire::kMisfireGap;
  return fire >= planned.last - window ? FateOfFire::kRun : FateOfFire::kEither;
}

// Returns the outcome that a fire must have. `at` is its index in `fires`, which end at the time of
// planning. kEither: the outcome depends on the exact time of planning.
FateOfFire FateOf(const std::vector<WallTime>& fires, size_t at, const JobDefinition& job,
                  const Moments& planned) {
  const bool queues = job.overlap_policy == OverlapPolicy::kQueueOne ||
                      job.overlap_policy == OverlapPolicy::kQueueAll;
  if (job.misfire_policy != MisfirePolicy::kAll && !queues) {
    return FateOfOvertaken(fires, at, job, planned);
  }
  const Duration grace = std::max<Duration>(std::chrono::seconds(job.misfire_grace_s), 5s);
  const Duration window = std::chrono::seconds(job.catch_up_window_s);
  const auto before = [&fires](WallTime limit) {
    return std::lower_bound(fires.begin(), fires.end(), limit) - fires.begin();
  };
  const auto place = static_cast<int64_t>(at);
  const WallTime fire = fires[at];
  if (fire >= planned.last - grace) return FateOfFire::kRun;
  if (fire >= planned.first - grace) return FateOfFire::kEither;
  if (job.misfire_policy == MisfirePolicy::kSkip) return FateOfFire::kMisfireGap;
  const int64_t newer_least = before(planned.first - grace) - place - 1;
  const int64_t newer_most = before(planned.last - grace) - place - 1;
  if (fire < planned.first - window) return FateOfFire::kMisfireGap;
  const bool in_window = fire >= planned.last - window;
  const bool latest = job.misfire_policy == MisfirePolicy::kLatest;
  const int64_t most = latest ? 1 : job.catch_up_max;
  if (newer_least >= most) {
    // With policy latest only one fire runs, so the fire is a misfire in or out of the window.
    if (latest) return FateOfFire::kMisfireGap;
    return in_window ? FateOfFire::kLimitGap : FateOfFire::kEither;
  }
  return newer_most < most && in_window ? FateOfFire::kRun : FateOfFire::kEither;
}

FateOfFire Became(const PausePorts& ports, const std::vector<GapRange>& gaps, ScheduleId id,
                  WallTime fire) {
  if (ports.checker.rows().contains(RunKey{fire, id, 0})) return FateOfFire::kRun;
  for (const GapRange& gap : gaps) {
    if (fire < gap.from || gap.to < fire) continue;
    if (gap.reason == GapReason::kMisfire) return FateOfFire::kMisfireGap;
    if (gap.reason == GapReason::kCatchUpLimit) return FateOfFire::kLimitGap;
  }
  return FateOfFire::kEither;
}

}  // namespace

void CheckMisfiresOfPause(const PausePorts& ports) {
  // Fires up to one horizon after the beginning of the pause were planned before it. They
  // wait as runs.
  const WallTime first = ports.began + scheduler::MemberOptions{}.tuning.horizon + 1s;
  const Moments planned{ports.resumed, ports.resumed + ports.planning};
  std::map<ScheduleId, std::vector<GapRange>> gaps;
  const auto page = ports.stores.runs.ListGaps({.limit = 1'000'000});
  for (const GapRecord& gap : page->gaps) gaps[gap.schedule_id].push_back(gap.range);
  for (const auto& [id, life] : ports.history.lives()) {
    const auto job = ports.stores.jobs.GetJob(life.job_id);
    if (life.until != kNever || !job.ok() || !job->definition.enabled) continue;
    if (!life.spec.calendar.empty() || !life.spec.blackout.empty())
      continue;                                    // History has them all
    if (life.spec.jitter != Duration{}) continue;  // the moments below are those of the fires
    const std::vector<WallTime> fires = History::Fires(life, first, planned.last);
    for (size_t at = 0; at < fires.size() && fires[at] <= ports.resumed; ++at) {
      const FateOfFire wanted = FateOf(fires, at, job->definition, planned);
      const FateOfFire found = Became(ports, gaps[id], id, fires[at]);
      if (wanted == found || (wanted == FateOfFire::kEither && found != FateOfFire::kEither))
        continue;
      ports.checker.Fail("pause: misfires",
                         fmt::format("{} schedule {} fire {}, paused until {}: {} instead of {}",
                                     life.job_id.value(), id.value(), FormatRfc3339(fires[at]),
                                     FormatRfc3339(ports.resumed), Name(found), Name(wanted)));
    }
  }
}

}  // namespace carillon::sim
