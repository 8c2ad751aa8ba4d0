#include "tests/twins/memory_job_store.h"

#include <algorithm>

#include "common/domain/job/pending_fires.h"
#include "tests/twins/memory_calendar_store.h"
#include "tests/twins/memory_dependencies.h"
#include "tests/twins/memory_job_order.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_pending.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

// The first one is for the pseudo schedule of manual runs.
uint64_t ScheduleNumbersOf(const JobDefinition& definition) {
  return definition.schedules.size() + 1;
}

}  // namespace

Result<JobEntry*> MemoryJobStore::FindAtVersion(const JobId& id, int64_t version) {
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, tables_.FindLiveJob(id));
  if (job->version != version) {
    return {ErrorCode::kConflict, "job " + id.value() + " is at version " +
                                      std::to_string(job->version) + ", not " +
                                      std::to_string(version)};
  }
  return job;
}

StoredJob MemoryJobStore::ToStored(const JobEntry& job) const {
  if (!IsReadable(job)) return ColumnsOf(job);
  StoredJob stored{.job_no = job.job_no,
                   .job_id = job.id,
                   .segment = job.segment,
                   .version = job.version,
                   .definition = job.definition,
                   .pause_reason = job.pause_reason,
                   .created = job.created,
                   .updated = job.updated,
                   .paused_by_failures = job.paused_by_failures};
  for (const ScheduleId id : job.schedules) {
    stored.schedules.push_back({id, tables_.FindSchedule(id)->spec});
  }
  return stored;
}

ScheduleId MemoryJobStore::AddSchedule(const JobEntry& job, ScheduleId id, const ScheduleSpec& spec,
                                       WallTime now) {
  tables_.PutSchedule(NewSchedule(tables_.Calendars(), job, id, spec, now));
  return id;
}

StoredJob MemoryJobStore::AddJob(const NewJob& wanted, const Numbers& numbers,
                                 const WriteContext& context) {
  const auto& [id, definition] = wanted;
  const JobNo job_no(tables_.job_numbers.Take(numbers.job, 0));
  JobEntry& job = tables_.AddJob({.job_no = job_no,
                                  .id = id,
                                  .segment = tables_.SegmentOf(job_no),
                                  .version = 1,
                                  .definition = definition,
                                  .created = context.now,
                                  .updated = context.now,
                                  .manual = ScheduleId(numbers.schedule),
                                  .versions = {{1, definition}},
                                  .made = {{1, context.now}},
                                  .actors = {{1, context.actor}}});
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    const ScheduleId schedule(tables_.schedule_numbers.Take(numbers.schedule, i + 1));
    job.schedules.push_back(AddSchedule(job, schedule, definition.schedules[i], context.now));
  }
  PutDependencies(tables_, job);
  PutTaskJob(tables_, job);
  return ToStored(job);
}

Result<StoredJob> MemoryJobStore::CreateJob(const JobId& id, const JobDefinition& definition,
                                            const WriteContext& context) {
  MutexLock lock(tables_.mu);
  const Numbers numbers = {
      .job = tables_.job_numbers.Reserve(1),
      .schedule = tables_.schedule_numbers.Reserve(ScheduleNumbersOf(definition))};
  RaiseFlags(tables_, definition);
  CARILLON_TRY(CheckUpstream(tables_, id, nullptr, definition));
  CARILLON_TRY(CheckGroup(tables_, definition));
  if (tables_.FindJob(id) != nullptr) {
    return {ErrorCode::kExists, "job_id " + id.value() + " is taken"};
  }
  CARILLON_TRY(CheckCalendars(tables_.Calendars(), definition));
  return AddJob({id, definition}, numbers, context);
}

Result<StoredJobs> MemoryJobStore::CreateJobs(const NewJobs& jobs, const WriteContext& context) {
  MutexLock lock(tables_.mu);
  if (jobs.empty()) return StoredJobs();
  uint64_t schedules = 0;
  for (const NewJob& job : jobs) schedules += ScheduleNumbersOf(job.definition);
  Numbers next = {.job = tables_.job_numbers.Reserve(jobs.size()),
                  .schedule = tables_.schedule_numbers.Reserve(schedules)};
  for (const NewJob& one : jobs) RaiseFlags(tables_, one.definition);
  std::map<JobId, size_t> siblings;
  for (const NewJob& one : jobs) {
    CARILLON_TRY(CheckUpstream(tables_, one.job_id, nullptr, one.definition, siblings));
    for (const JobId& id : UpstreamOf(one.definition)) ++siblings[id];
  }
  for (const NewJob& one : jobs) CARILLON_TRY(CheckGroup(tables_, one.definition));
  std::set<JobId> ids;
  for (const NewJob& job : jobs) {
    if (tables_.FindJob(job.job_id) == nullptr && ids.insert(job.job_id).second) continue;
    return {ErrorCode::kExists, "job_id " + job.job_id.value() + " is taken"};
  }
  for (const NewJob& one : jobs) CARILLON_TRY(CheckCalendars(tables_.Calendars(), one.definition));
  StoredJobs created;
  for (const NewJob& job : jobs) {
    created.push_back(AddJob(job, next, context));
    ++next.job;
    next.schedule += ScheduleNumbersOf(job.definition);
  }
  return created;
}

Result<FoundJobs> MemoryJobStore::FindJobs(const JobKeys& keys) {
  MutexLock lock(tables_.mu);
  FoundJobs found;
  std::map<JobNo, const JobEntry*> jobs;
  for (const auto& [id, job_no] : tables_.job_ids()) {
    const JobEntry& job = *tables_.FindJob(job_no);
    const bool by_id = std::find(keys.ids.begin(), keys.ids.end(), id) != keys.ids.end();
    const std::pair name(job.definition.name_space, job.definition.name);
    const bool by_name = std::find(keys.names.begin(), keys.names.end(), name) != keys.names.end();
    if (by_id) found.taken.insert(id);
    if ((by_id || by_name) && !job.deleted && IsReadable(job)) jobs[job_no] = &job;
  }
  if (jobs.size() > kJobsFoundMax) return {ErrorCode::kExhausted, "too many jobs of those names"};
  for (const auto& [job_no, job] : jobs) found.jobs.push_back(ToStored(*job));
  return found;
}

Result<StoredJob> MemoryJobStore::GetJob(const JobId& id) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const JobEntry* job, tables_.FindReadableJob(id));
  return ToStored(*job);
}

Result<JobHead> MemoryJobStore::GetJobHead(const JobId& id) {
  MutexLock lock(tables_.mu);
  const JobEntry* job = tables_.FindJob(id);
  if (job == nullptr) return {ErrorCode::kNotFound, "no job " + id.value()};
  return HeadOf(*job);
}

Result<JobPage> MemoryJobStore::ListJobs(const JobFilter& filter) {
  MutexLock lock(tables_.mu);
  std::map<OrderKey, const JobEntry*> within;
  for (const auto& [id, job_no] : tables_.job_ids()) {
    const JobEntry& job = *tables_.FindJob(job_no);
    if (IsWithin(job, filter)) within[KeyOf(filter.order, PlaceOf(job, filter.order))] = &job;
  }
  JobPage page;
  size_t searched = 0;
  // Returns false when the page ends.
  const auto look = [&](const JobEntry& job) REQUIRES(tables_.mu) {
    const bool shown = IsReadable(job) || filter.unreadable;
    if (Matches(job, filter) && shown) page.jobs.push_back(ToStored(job));
    if (page.jobs.size() >= filter.limit) return false;
    if (!filter.searches() || ++searched < filter.search_max) return true;
    page.searched_to = PlaceOf(job, filter.order);
    return false;
  };
  if (filter.descending) {
    auto it = filter.after ? within.lower_bound(KeyOf(filter.order, *filter.after)) : within.end();
    while (it != within.begin() && look(*(--it)->second)) {
    }
    return page;
  }
  auto it = filter.after ? within.upper_bound(KeyOf(filter.order, *filter.after)) : within.begin();
  while (it != within.end() && look(*it->second)) ++it;
  return page;
}

Result<std::vector<std::string>> MemoryJobStore::ListNamespaces(const std::string& after,
                                                                size_t limit) {
  MutexLock lock(tables_.mu);
  std::set<std::string> used;
  for (const auto& [id, job_no] : tables_.job_ids()) {
    const JobEntry& job = *tables_.FindJob(job_no);
    if (!job.deleted) used.insert(job.definition.name_space);
  }
  std::vector<std::string> page;
  for (auto it = used.upper_bound(after); it != used.end() && page.size() < limit; ++it) {
    page.push_back(*it);
  }
  return page;
}

Result<std::vector<JobVersion>> MemoryJobStore::ListVersions(const JobId& id, int64_t before,
                                                             size_t limit) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const JobEntry* job, tables_.FindLiveJob(id));
  std::vector<JobVersion> versions;
  for (auto entry = job->versions.rbegin(); entry != job->versions.rend(); ++entry) {
    if (versions.size() >= limit) break;
    const auto& [version, definition] = *entry;
    if (version >= before) continue;
    versions.push_back(
        {.version = version, .actor = job->actors.at(version), .created = job->made.at(version)});
    if (!job->unreadable.contains(version)) versions.back().definition = definition;
  }
  return versions;
}

void MemoryJobStore::NextVersion(JobEntry& job, const WriteContext& context) {
  ++job.version;
  job.updated = TimeOfNextVersion(job.updated, context.now);
  job.versions[job.version] = job.definition;
  job.made[job.version] = job.updated;
  job.actors[job.version] = context.actor;
}

void MemoryJobStore::TouchSchedules(const JobEntry& job) {
  StampPending(tables_, job);
  for (const ScheduleId id : job.schedules) {
    ScheduleEntry schedule = *tables_.FindSchedule(id);
    ++schedule.version;
    schedule.active = job.definition.enabled && !job.deleted;
    tables_.PutSchedule(std::move(schedule));
  }
}

void MemoryJobStore::RemoveSchedule(const JobEntry& job, ScheduleId id, GapReason reason,
                                    WallTime now) {
  ScheduleEntry schedule = *tables_.FindSchedule(id);
  const GapRange missed = PassOver(job.definition, schedule.spec, reason, now, &schedule.next_fire,
                                   Resolved(tables_.Calendars(), schedule.calendars));
  if (missed.count > 0) AddGap(tables_, id, job.job_no, missed);
  ++schedule.version;
  schedule.active = false;
  schedule.next_fire = kNever;
  schedule.awaited = WallTime{};
  tables_.PutSchedule(std::move(schedule));
}

void MemoryJobStore::ReplaceSchedules(JobEntry& job, const JobDefinition& old, uint64_t first_new,
                                      const WriteContext& context) {
  std::vector<const ScheduleSpec*> specs;
  for (const ScheduleId id : job.schedules) {
    const ScheduleEntry& entry = *tables_.FindSchedule(id);
    const bool alike = entry.readable && FiresAlike(old, job.definition, entry.spec);
    specs.push_back(alike ? &entry.spec : nullptr);
  }
  const auto continued = ContinuedSchedules(specs, job.definition.schedules);
  std::vector<ScheduleId> left = job.schedules;
  std::vector<ScheduleId> next;
  for (size_t i = 0; i < continued.size(); ++i) {
    const ScheduleSpec& spec = job.definition.schedules[i];
    if (!continued[i]) {
      const ScheduleId id(tables_.schedule_numbers.Take(first_new++, 0));
      ScheduleEntry added = *tables_.FindSchedule(AddSchedule(job, id, spec, context.now));
      added.version = 0;  // TouchSchedules makes it 1
      tables_.PutSchedule(std::move(added));
      next.push_back(id);
      continue;
    }
    ScheduleEntry kept = *tables_.FindSchedule(job.schedules[*continued[i]]);
    kept.spec = spec;
    next.push_back(kept.id);
    std::erase(left, kept.id);
    tables_.PutSchedule(std::move(kept));
  }
  JobEntry before;
  before.job_no = job.job_no;
  before.definition = old;
  const GapReason reason = old.enabled ? GapReason::kEdited : GapReason::kPaused;
  for (const ScheduleId id : left) KeepParameters(tables_, job, id);
  KeepFireParameters(tables_, job, old, next);
  if (context.keep_zones) KeepZones(tables_, job, old, next);
  for (const ScheduleId id : left) RemoveSchedule(before, id, reason, context.now);
  job.schedules = std::move(next);
}

Result<JobDependencies> MemoryJobStore::ListDependencies(const JobId& id) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const JobEntry* job, tables_.FindLiveJob(id));
  return DependenciesOf(tables_, *job);
}

Result<StoredJob> MemoryJobStore::ReplaceJob(const JobId& id, int64_t expected_version,
                                             const JobDefinition& definition,
                                             const WriteContext& context) {
  MutexLock lock(tables_.mu);
  const uint64_t first_new = tables_.schedule_numbers.Reserve(definition.schedules.size());
  RaiseFlags(tables_, definition);
  CARILLON_TRY(CheckUpstream(tables_, id, tables_.FindJob(id), definition));
  CARILLON_TRY(tables_.FindLiveJob(id));
  CARILLON_TRY(CheckGroup(tables_, definition));
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, FindAtVersion(id, expected_version));
  CARILLON_TRY(CheckCalendars(tables_.Calendars(), definition));
  const JobDefinition old = job->definition;
  job->definition = definition;
  NextVersion(*job, context);
  const Duration timeout = std::chrono::seconds(definition.queue_timeout_s);
  const auto move = [&](const RunKey& key, QueueEntry& wait) REQUIRES(tables_.mu) {
    wait.expires = QueueExpiry(tables_.FindRun(key)->row, timeout, wait.since);
  };
  for (auto& [key, wait] : job->queue) move(key, wait);
  for (auto& [name, group] : tables_.groups) {
    for (auto& [place, wait] : group.queue) {
      if (job->open.contains(place.key)) move(place.key, wait);
    }
  }
  ReplaceSchedules(*job, old, first_new, context);
  PutDependencies(tables_, *job);
  PutTaskJob(tables_, *job);
  ChangePending(tables_, *job, JobChange::kEdited, reason::kEdited, context.now);
  if (WaitsForOthers(old) != WaitsForOthers(definition)) ChangeWaits(tables_, *job, context.now);
  if (old.user_id != definition.user_id) AskFormerOwner(tables_, *job);
  if (TakesSlots(old.overlap_policy) != TakesSlots(definition.overlap_policy)) {
    LeaveGroup(tables_, *job, LeavingRuns::kAll, context.now);
  } else if (old.concurrency_group != definition.concurrency_group) {
    LeaveGroup(tables_, *job, LeavingRuns::kOfJobsGroup, context.now);
  }
  if (TakesSlots(definition.overlap_policy) && !TakesSlots(old.overlap_policy))
    job->slots = job->active;
  if (old.enabled && !definition.enabled) Pause(*job, "", context.now);
  if (!old.enabled && definition.enabled) Resume(*job, context.now);
  TouchSchedules(*job);
  ReportEnds(tables_, context);
  return ToStored(*job);
}

void MemoryJobStore::Pause(JobEntry& job, const std::string& reason, WallTime now) {
  job.definition.enabled = false;
  job.pause_reason = reason;
  job.paused_by_failures = false;
  ChangePending(tables_, job, JobChange::kPaused, reason::kPaused, now);
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
  TouchSchedules(*job);
  return ToStored(*job);
}

Status MemoryJobStore::DeleteJob(const JobId& id, int64_t expected_version,
                                 const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, FindAtVersion(id, expected_version));
  if (!context.force) CARILLON_TRY(CheckNotAwaited(tables_, *job));
  EraseDependencies(tables_, *job);
  job->deleted = true;
  const bool readable = IsReadable(*job);
  NextVersion(*job, context);
  if (!readable) job->unreadable.insert(job->version);
  ChangePending(tables_, *job, JobChange::kDeleted, reason::kDeleted, context.now);
  const GapReason reason = job->definition.enabled ? GapReason::kDeleted : GapReason::kPaused;
  for (const ScheduleId schedule : job->schedules) {
    RemoveSchedule(*job, schedule, reason, context.now);
  }
  ReportEnds(tables_, context);
  return {};
}

Result<BoundedCount> MemoryJobStore::CountJobs(const JobFilter& filter) {
  JobFilter all = WithLimit(filter);
  all.after.reset();
  all.search_max = kCountLookedAtMax;
  CARILLON_ASSIGN_OR_RETURN(const JobPage page, ListJobs(all));
  return Bounded(page.jobs.size(), !page.searched_to);
}

}  // namespace carillon::memory
