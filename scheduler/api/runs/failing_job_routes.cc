#include "scheduler/api/runs/failing_job_routes.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "common/domain/run_id.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/explain/failure_streak.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kJobsPerPage = 100;  // jobs with dead letters that are checked for one page
// Runs that are read of each of these jobs. Nearly always the newest run shows whether
// the job fails.
constexpr size_t kRunsRead = 5;
// Runs that are read to find the last success of a failing job. First a few are read. If none of
// them succeeded, many are read.
constexpr std::array<size_t, 2> kStreakRunsRead = {30, 1'000};

Reaches ReachOf(size_t read, size_t asked) { return read < asked ? Reaches::kAll : Reaches::kPart; }

// Reads older runs until the streak is settled, or until all of kStreakRunsRead were tried.
Outcome<FailureStreak> ReadStreak(const Call& call, const JobId& job_id, FailureStreak streak,
                                  WallTime now) {
  for (const size_t runs_max : kStreakRunsRead) {
    if (streak.settled()) break;
    CARILLON_ASSIGN_OR_RETURN(
        const auto recent,
        call.stores.runs.ListRecentRuns({.job_ids = {job_id}, .runs_max = runs_max, .until = now}));
    if (recent.empty()) return FailureStreak{};  // deleted in the meantime
    const std::vector<RunSummary>& runs = recent.front().runs;
    streak = StreakOf(runs, ReachOf(runs.size(), runs_max));
  }
  return streak;
}

struct Failing {
  DeadLetterJob job;
  FailureStreak streak;
};

struct Picked {
  std::vector<Failing> failing;
  bool all = true;  // false: it is unknown whether further jobs fail
};

// Returns the failing jobs, in the order of `jobs`. Their streaks may be unsettled. If the newest
// runs of a job do not show whether it fails, its older runs are read. Once `limit` failing jobs
// are found, such a job is left out, to avoid these reads.
Outcome<Picked> PickFailing(const Call& call, const std::vector<DeadLetterJob>& jobs, size_t limit,
                            WallTime now) {
  RecentFilter filter{.runs_max = kRunsRead, .until = now};
  for (const DeadLetterJob& job : jobs) filter.job_ids.push_back(job.job_id);
  CARILLON_ASSIGN_OR_RETURN(const auto recent, call.stores.runs.ListRecentRuns(filter));
  std::map<JobId, FailureStreak> streaks;
  for (const RecentRuns& job : recent) {
    streaks.emplace(job.job_id, StreakOf(job.runs, ReachOf(job.runs.size(), kRunsRead)));
  }
  Picked picked;
  for (const DeadLetterJob& job : jobs) {
    const auto found = streaks.find(job.job_id);
    if (found == streaks.end()) continue;
    FailureStreak streak = found->second;
    const bool hidden = streak.failures == 0 && !streak.settled();
    if (hidden && picked.failing.size() >= limit) {
      picked.all = false;
      continue;
    }
    if (hidden) {
      CARILLON_ASSIGN_OR_RETURN(streak, ReadStreak(call, job.job_id, streak, now));
    }
    if (streak.failures > 0) picked.failing.push_back({job, streak});
  }
  return picked;
}

// Returns the number of the job's dead letters; null if they could not be counted.
json LettersOf(const Call& call, const JobId& job_id) {
  const auto counted = call.stores.runs.CountDeadLetters({.job_id = job_id});
  return counted.ok() ? json(counted->seen) : json(nullptr);
}

json FailingToJson(const Call& call, const Failing& one) {
  const FailureStreak& streak = one.streak;
  return {{"job_id", one.job.job_id.value()},
          {"job_name", one.job.job_name},
          {"failing_since", FormatRfc3339(streak.since)},
          {"failures", streak.failures},
          {"more_failures", streak.open_ended},
          {"last_run_id", EncodeRunId(streak.last.key)},
          {"last_state", Name(streak.last.state)},
          {"last_failure_time", FormatRfc3339(streak.last.ended)},
          {"last_success_time",
           streak.last_success ? json(FormatRfc3339(streak.last_success->ended)) : json(nullptr)},
          {"dead_letters", LettersOf(call, one.job.job_id)}};
}

}  // namespace

Reply ListFailingJobs(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "failing-jobs"));
  DeadLetterJobFilter filter{.limit = kJobsPerPage};
  if (!page.cursor().empty()) {
    const auto before = ParseCursor(page.cursor());
    if (!before) return BadPageToken();
    filter.before_id = *before;
  }
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const auto looked_at, call.stores.runs.ListDeadLetterJobs(filter));
  CARILLON_ASSIGN_OR_RETURN(const Picked picked,
                            PickFailing(call, looked_at.jobs, page.size() + 1, now));
  const std::vector<Failing>& failing = picked.failing;
  size_t shown = 0;
  for (const Failing& one : failing) {
    if (shown == page.size()) break;
    Failing whole = one;
    CARILLON_ASSIGN_OR_RETURN(whole.streak, ReadStreak(call, one.job.job_id, one.streak, now));
    if (whole.streak.failures == 0) {  // the job has succeeded or was deleted meanwhile
      page.Skip(std::to_string(one.job.newest_id));
      ++shown;
      continue;
    }
    if (!page.Add(FailingToJson(call, whole), std::to_string(one.job.newest_id))) break;
    ++shown;
  }
  const bool all_shown = shown == failing.size();
  if (all_shown && looked_at.next) page.SearchEnded(std::to_string(*looked_at.next));
  return page.Finish(!all_shown || looked_at.next.has_value(), [&]() -> Result<BoundedCount> {
    return BoundedCount{.seen = failing.size(), .all = picked.all && !looked_at.next.has_value()};
  });
}

}  // namespace carillon::scheduler
