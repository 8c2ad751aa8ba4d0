#include "tests/twins/memory_streak_store.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {

Result<std::vector<FailingJob>> MemoryStreakStore::ScanFailing(
    const std::vector<SegmentId>& segments, WallTime since, std::optional<JobNo> after,
    size_t limit) {
  MutexLock lock(tables_.mu);
  std::map<JobNo, FailingJob> failing;
  for (const auto& [id, letter] : tables_.dead_letters) {
    if (letter.created < since) continue;
    const JobEntry& job = *tables_.FindJob(letter.job_id);
    const bool watched = !job.deleted && job.definition.enabled &&
                         job.definition.pause_after_failures > 0 && (!after || *after < job.job_no);
    if (!watched || std::ranges::find(segments, job.segment) == segments.end()) continue;
    FailingJob& found = failing[job.job_no];
    found.job_no = job.job_no;
    found.job_id = job.id;
    found.segment = job.segment;
    found.rule = {.version = job.version,
                  .since = job.updated,
                  .pause_after_failures = job.definition.pause_after_failures};
    ++found.letters;
    found.newest_letter = id;
  }
  std::vector<FailingJob> page;
  for (auto& [job_no, job] : failing | std::views::take(limit)) page.push_back(std::move(job));
  return page;
}

Streak MemoryStreakStore::StreakOf(const FailingJob& job, WallTime now) const {
  std::vector<StreakRun> runs;
  for (const auto& [key, run] : tables_.runs() | std::views::reverse) {
    const RunRow& row = run.row;
    if (row.job_no != job.job_no || key.fire > now || key.shard != 0) continue;
    if (key.fire < job.rule.since) break;
    runs.push_back({.key = key,
                    .kind = row.kind,
                    .state = row.state,
                    .reason = run.result.reason,
                    .attempt = row.attempt,
                    .def_version = row.def_version,
                    .flags = row.flags});
  }
  return CountStreak(runs, job.rule);
}

Result<Streak> MemoryStreakStore::ReadStreak(const FailingJob& job, WallTime now) {
  MutexLock lock(tables_.mu);
  return StreakOf(job, now);
}

Result<bool> MemoryStreakStore::PauseFailing(const FailingJob& job, const Fence& fence,
                                             const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  CARILLON_ASSIGN_OR_RETURN(JobEntry * entry, tables_.FindReadableJob(job.job_id));
  if (entry->version != job.rule.version || !entry->definition.enabled) return false;
  const Streak streak = StreakOf(job, context.now);
  if (!streak.IsFull(job.rule)) return false;
  const std::string reason = StreakSentence(streak.failures);
  jobs_.PauseEnabled(*entry, reason, context);
  entry->paused_by_failures = true;
  const uint64_t id = ++tables_.last_audit_id;
  tables_.audit[id] = {.id = id,
                       .at = context.now,
                       .actor = context.actor,
                       .action = "job.pause",
                       .object_id = job.job_id.value(),
                       .reason = reason};
  AddNotice(tables_, NoticeOf(job, streak, context.now));
  return true;
}

}  // namespace carillon::memory
