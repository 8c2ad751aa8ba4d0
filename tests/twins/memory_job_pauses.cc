// The parts of MemoryJobStore that pause and resume jobs, by request and by failures.

#include <algorithm>
#include <ranges>

#include "common/domain/job/pending_fires.h"
#include "tests/twins/memory_calendar_store.h"
#include "tests/twins/memory_job_store.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {

void MemoryJobStore::Pause(JobEntry& job, const std::string& reason, WallTime now) {
  job.definition.enabled = false;
  job.pause_reason = reason;
  job.paused_by_failures = false;
  ChangePending(job, JobChange::kPaused, reason::kPaused, now);
}

void MemoryJobStore::Resume(JobEntry& job, WallTime now) {
  job.definition.enabled = true;
  job.pause_reason.clear();
  job.paused_by_failures = false;
  for (const ScheduleId id : job.schedules) {
    ScheduleEntry schedule = *tables_.FindSchedule(id);
    const ScheduleCalendars calendars = UsePresent(tables_.Calendars(), job.definition, &schedule);
    const GapRange missed = PassOver(job.definition, schedule.spec, GapReason::kPaused, now,
                                     &schedule.next_fire, calendars);
    if (missed.count > 0) AddGap(tables_, id, job.job_no, missed);
    tables_.PutSchedule(std::move(schedule));
  }
  const std::set<RunKey> open = job.open;
  for (const RunKey& key : open) {
    RunEntry entry = *tables_.FindRun(key);
    if (entry.row.state != RunState::kPending) continue;
    if (entry.row.due == kNever) entry.row.due = now;
    tables_.PutRun(std::move(entry));
  }
}

void MemoryJobStore::PauseEnabled(JobEntry& job, const std::string& reason,
                                  const WriteContext& context) {
  job.definition.enabled = false;
  NextVersion(job, context);
  Pause(job, reason, context.now);
  StampPending(job);
  TouchSchedules(job);
  ReportEnds(tables_, context);
}

Result<StoredJob> MemoryJobStore::PauseJob(const JobId& id, const std::string& reason,
                                           const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, tables_.FindReadableJob(id));
  if (!job->definition.enabled) {
    if (reason.empty() || reason == job->pause_reason) return ToStored(*job);
    job->pause_reason = reason;
    job->paused_by_failures = false;
    NextVersion(*job, context);
    StampPending(*job);
    TouchSchedules(*job);
    return ToStored(*job);
  }
  PauseEnabled(*job, reason, context);
  return ToStored(*job);
}

Result<StoredJob> MemoryJobStore::ResumeJob(const JobId& id, const std::string& /*reason*/,
                                            const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, tables_.FindReadableJob(id));
  if (job->definition.enabled) return ToStored(*job);
  job->definition.enabled = true;
  NextVersion(*job, context);
  Resume(*job, context.now);
  StampPending(*job);
  TouchSchedules(*job);
  return ToStored(*job);
}

Result<std::vector<FailingJob>> MemoryJobStore::ScanFailing(const std::vector<SegmentId>& segments,
                                                            WallTime since,
                                                            std::optional<JobNo> after,
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

Streak MemoryJobStore::StreakOf(const FailingJob& job, WallTime now) const {
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

Result<Streak> MemoryJobStore::ReadStreak(const FailingJob& job, WallTime now) {
  MutexLock lock(tables_.mu);
  return StreakOf(job, now);
}

Result<bool> MemoryJobStore::PauseFailing(const FailingJob& job, const Fence& fence,
                                          const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  CARILLON_ASSIGN_OR_RETURN(JobEntry * entry, tables_.FindReadableJob(job.job_id));
  if (entry->version != job.rule.version || !entry->definition.enabled) return false;
  const Streak streak = StreakOf(job, context.now);
  if (!streak.IsFull(job.rule)) return false;
  const std::string reason = StreakSentence(streak.failures);
  PauseEnabled(*entry, reason, context);
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
