#include "tests/twins/memory_backfill_store.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_counts.h"
#include "tests/twins/memory_run_writes.h"
#include "tests/twins/memory_workflow_runs.h"

namespace carillon::memory {
namespace {

Error NoBackfill(uint64_t number) {
  return {ErrorCode::kNotFound, "no backfill " + std::to_string(number)};
}

Error AlreadyEnded(const Backfill& backfill) {
  return {ErrorCode::kConflict, "backfill " + std::to_string(backfill.number) + " is " +
                                    std::string(Name(backfill.state))};
}

BackfillSchedules ToldApart(const JobEntry& job, ScheduleId own) {
  return {.own = own, .present = {job.schedules.begin(), job.schedules.end()}};
}

bool IsScheduleOf(const JobEntry& job, ScheduleId id) {
  return std::find(job.schedules.begin(), job.schedules.end(), id) != job.schedules.end();
}

}  // namespace

Result<Backfill*> MemoryBackfillStore::FindBackfill(uint64_t number) {
  const auto found = tables_.backfills.find(number);
  if (found == tables_.backfills.end()) return NoBackfill(number);
  return &found->second;
}

WallTime MemoryBackfillStore::PlannersPlace(const ScheduleEntry& entry) {
  const WallTime back = tables_.Calendars().ChangedSince(entry.calendars, entry.calendar_version);
  return std::min(entry.next_fire, back);
}

Result<MemoryBackfillStore::Found> MemoryBackfillStore::Find(const BackfillTerms& terms) {
  CARILLON_ASSIGN_OR_RETURN(const JobEntry* job, tables_.FindLiveJob(terms.job_id));
  if (!IsScheduleOf(*job, terms.schedule_id)) {
    return {ErrorCode::kConflict, "job " + terms.job_id.value() + " has no schedule " +
                                      std::to_string(terms.schedule_id.value())};
  }
  const ScheduleEntry& entry = *tables_.FindSchedule(terms.schedule_id);
  CARILLON_ASSIGN_OR_RETURN(ScheduleCalendars limits, tables_.Calendars().Of(entry.calendars));
  CARILLON_ASSIGN_OR_RETURN(Schedule schedule,
                            Schedule::Compile(entry.spec, job->definition.dst_gap,
                                              job->definition.dst_repeat, std::move(limits)));
  return Found{.job = *job,
               .schedule = std::move(schedule),
               .question = {.span = {terms.from, terms.to, terms.order},
                            .next_fire = PlannersPlace(entry),
                            .schedules = ToldApart(*job, terms.schedule_id),
                            .rerun = terms.rerun}};
}

RunsByFire MemoryBackfillStore::RunsAt(JobNo job_no, const std::vector<WallTime>& fires) {
  RunsByFire runs;
  for (const WallTime fire : fires) {
    for (auto at = tables_.runs().lower_bound(RunKey{fire, ScheduleId{}, 0});
         at != tables_.runs().end() && at->first.fire == fire; ++at) {
      if (at->second.row.job_no != job_no || IsPart(at->first)) continue;
      RunRow& row = runs[fire].emplace_back(at->second.row);
      // Of a workflow: nobody has confirmed that the process of a node may run beside another one.
      const bool broken = failpoint::Broken("backfill.nodes_unasked");
      if (tables_.FindWorkflow(row.key) == nullptr || !broken) {
        row.may_still_run = MayStillRunBelow(tables_, at->second);
      }
    }
  }
  return runs;
}

Result<BackfillPreview> MemoryBackfillStore::PreviewBackfill(const BackfillTerms& terms) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const Found found, Find(terms));
  return carillon::PreviewBackfill(
      found.schedule, found.question,
      [&](const std::vector<WallTime>& fires)
          REQUIRES(tables_.mu) -> Result<RunsByFire> { return RunsAt(found.job.job_no, fires); });
}

Result<Backfill> MemoryBackfillStore::CreateBackfill(
    const BackfillTerms& terms, const std::optional<KeyedAnswer<Backfill>>& keyed,
    const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const Found found, Find(terms));
  for (const auto& [number, other] : tables_.backfills) {
    if (other.job_no == found.job.job_no && IsOpen(other.state)) {
      return {ErrorCode::kExists, "job " + terms.job_id.value() + " has an open backfill"};
    }
  }
  Backfill backfill{.number = tables_.last_backfill_number + 1,
                    .job_no = found.job.job_no,
                    .segment = found.job.segment,
                    .terms = terms,
                    .fires = found.schedule.Count(terms.from, terms.to),
                    .cursor = FirstCursor(terms.from, terms.to, terms.order),
                    .actor = context.actor,
                    .created = context.now};
  if (backfill.fires > kBackfillFiresMax) {
    return {ErrorCode::kExhausted, std::to_string(backfill.fires) + " fires in the range"};
  }
  if (keyed) {
    CARILLON_TRY(tables_.CheckUnsettled(keyed->scope, keyed->key));
    tables_.Settle(*keyed, backfill);
  }
  ++tables_.last_backfill_number;
  tables_.backfills[backfill.number] = backfill;
  return backfill;
}

Result<Backfill> MemoryBackfillStore::GetBackfill(uint64_t number) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const Backfill* backfill, FindBackfill(number));
  return *backfill;
}

Result<std::vector<Backfill>> MemoryBackfillStore::ListBackfills(const BackfillFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<Backfill> page;
  auto at = tables_.backfills.lower_bound(filter.before_number);
  while (at != tables_.backfills.begin() && page.size() < filter.limit) {
    const Backfill& backfill = (--at)->second;
    if (filter.job_id && backfill.terms.job_id != *filter.job_id) continue;
    if (filter.state && backfill.state != *filter.state) continue;
    page.push_back(backfill);
  }
  return page;
}

Result<BoundedCount> MemoryBackfillStore::CountBackfills(const BackfillFilter& filter) {
  BackfillFilter all = WithLimit(filter);
  all.before_number = UINT64_MAX;
  return Bounded(ListBackfills(all));
}

Result<Backfill> MemoryBackfillStore::SetState(uint64_t number, BackfillState state) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(Backfill * backfill, FindBackfill(number));
  if (!IsOpen(backfill->state)) return AlreadyEnded(*backfill);
  backfill->state = state;
  return *backfill;
}

Result<Backfill> MemoryBackfillStore::PauseBackfill(uint64_t number, const WriteContext&) {
  return SetState(number, BackfillState::kPaused);
}

Result<Backfill> MemoryBackfillStore::ResumeBackfill(uint64_t number, const WriteContext&) {
  return SetState(number, BackfillState::kRunning);
}

Result<Backfill> MemoryBackfillStore::CancelBackfill(uint64_t number, const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(Backfill * backfill, FindBackfill(number));
  if (backfill->state == BackfillState::kCancelled) return *backfill;
  if (!IsOpen(backfill->state)) return AlreadyEnded(*backfill);
  backfill->state = BackfillState::kCancelled;
  for (const RunKey& key : backfill->runs) {
    const RunEntry* found = tables_.FindRun(key);
    if (found != nullptr) CancelOne(tables_, RunEntry(*found), context);
  }
  ReportEnds(tables_, context);
  CountEnded(*backfill);
  if (backfill->runs.empty()) backfill->ended = context.now;
  return *backfill;
}

Result<std::vector<OpenBackfill>> MemoryBackfillStore::ScanBackfills(
    const std::vector<SegmentId>& segments, uint64_t after, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<OpenBackfill> open;
  for (auto at = tables_.backfills.upper_bound(after);
       at != tables_.backfills.end() && open.size() < limit; ++at) {
    const Backfill& backfill = at->second;
    const bool held =
        std::find(segments.begin(), segments.end(), backfill.segment) != segments.end();
    if (held && !HasEnded(backfill)) {
      open.push_back({backfill.number, backfill.job_no, backfill.segment});
    }
  }
  return open;
}

void MemoryBackfillStore::CountEnded(Backfill& backfill) {
  std::vector<RunKey> open;
  for (const RunKey& key : backfill.runs) {
    const RunEntry* run = tables_.FindRun(key);
    if (run != nullptr && !IsFinal(run->row.state)) {
      open.push_back(key);
    } else if (run != nullptr && run->row.state == RunState::kCompleted) {
      ++backfill.counts.succeeded;
    } else {
      ++backfill.counts.failed;
    }
  }
  backfill.runs = std::move(open);
}

RunRow MemoryBackfillStore::Insert(const Backfill& backfill, const JobEntry& job, WallTime fire,
                                   WallTime now) {
  const BackfillTerms& terms = backfill.terms;
  RunEntry entry;
  entry.row = {.key = {.fire = fire, .schedule_id = terms.schedule_id},
               .job_no = job.job_no,
               .segment = job.segment,
               .kind = RunKind::kBackfill,
               .due = std::max(now, fire),
               .priority = terms.priority.value_or(job.definition.priority),
               .def_version = job.version,
               .flags = kBackfillFlags | BehalfFlagOf(terms.parameters_json, "")};
  entry.planned = now;
  entry.parameters_json = terms.parameters_json;
  const RunRow row = entry.row;
  tables_.PutRun(std::move(entry));
  return row;
}

Result<RunRow> MemoryBackfillStore::RunAgain(const Backfill& backfill, const JobEntry& job,
                                             const RunKey& key, WallTime now) {
  const BackfillTerms& terms = backfill.terms;
  RunEntry entry = *tables_.FindRun(key);
  AttemptResult ended = entry.result;
  // A lost attempt stays LOST, because its real end may still be reported.
  if (ended.state != RunState::kLost) ended.state = entry.row.state;
  const RunChange change = RunAgainChange(entry.row, ToJobRow(job), terms.priority, now);
  CARILLON_TRY(CheckReopening(entry.row, change.state, Reopener::kOthers));
  MarkBackfilled(entry.row);
  entry.row.flags |= BehalfFlagOf(terms.parameters_json, "");
  entry.parameters_json = terms.parameters_json;
  CARILLON_TRY(WriteChange(tables_, std::move(entry), change, ended, now));
  return tables_.FindRun(key)->row;
}

Status MemoryBackfillStore::CreateRuns(Backfill& backfill, const JobEntry& job, WallTime now,
                                       Duration retention, BackfillEffect* effect) {
  const BackfillTerms& terms = backfill.terms;
  const int64_t open_max = OpenRunsMax(terms.concurrency, OverlapRulesOf(job.definition));
  const BackfillRoom room{.runs = open_max - static_cast<int64_t>(backfill.runs.size())};
  if (room.runs <= 0) return {};
  const ScheduleEntry& entry = *tables_.FindSchedule(terms.schedule_id);
  CARILLON_ASSIGN_OR_RETURN(ScheduleCalendars limits, tables_.Calendars().Of(entry.calendars));
  CARILLON_ASSIGN_OR_RETURN(const Schedule schedule,
                            Schedule::Compile(entry.spec, job.definition.dst_gap,
                                              job.definition.dst_repeat, std::move(limits)));
  BackfillSpan left = SpanLeft(terms.from, terms.to, terms.order, backfill.cursor);
  left.kept_from = KeptFrom(now, retention, job.definition.retention_days);
  const NextFires next = NextFiresOf(schedule, left, PlannersPlace(entry), room.looks);
  const BackfillPlan plan =
      PlanBackfill(next, RunsAt(job.job_no, next.fires), ToldApart(job, terms.schedule_id),
                   terms.rerun, left, room);
  for (const BackfillPlan::Item& item : plan.items) {
    if (item.choice.verdict == BackfillVerdict::kInsert) continue;
    CARILLON_ASSIGN_OR_RETURN(RunRow again, RunAgain(backfill, job, *item.choice.run, now));
    effect->due.push_back(std::move(again));
    ++backfill.counts.rerun;
  }
  for (const BackfillPlan::Item& item : plan.items) {
    if (item.choice.verdict != BackfillVerdict::kInsert) continue;
    effect->due.push_back(Insert(backfill, job, item.fire, now));
    ++backfill.counts.created;
    ++effect->created;
  }
  for (const RunRow& row : effect->due) backfill.runs.push_back(row.key);
  backfill.counts.existing += plan.existing;
  backfill.counts.refused += plan.refused;
  backfill.cursor = plan.cursor;
  if (plan.looked_at_all && backfill.runs.empty()) backfill.state = BackfillState::kCompleted;
  effect->more = !plan.looked_at_all && static_cast<int64_t>(backfill.runs.size()) < open_max;
  return {};
}

Result<BackfillEffect> MemoryBackfillStore::StepBackfill(const OpenBackfill& open,
                                                         const Fence& fence, WallTime now,
                                                         Duration retention) {
  const bool covered = std::any_of(fence.begin(), fence.end(), [&open](const FencedSegment& held) {
    return held.segment == open.segment;
  });
  if (!covered) return {ErrorCode::kInvalid, "backfill: outside the fence"};
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  BackfillEffect effect;
  const auto found = tables_.backfills.find(open.number);
  if (found == tables_.backfills.end()) return effect;
  Backfill& backfill = found->second;
  const bool astray = backfill.job_no != open.job_no || backfill.segment != open.segment;
  if (astray || HasEnded(backfill)) return effect;
  const JobEntry& job = *tables_.FindJob(open.job_no);
  CountEnded(backfill);
  const bool gone = job.deleted || !IsScheduleOf(job, backfill.terms.schedule_id);
  if (IsOpen(backfill.state) && gone) {
    backfill.state = BackfillState::kStopped;
    backfill.error = StoppedSentence(job.deleted);
  }
  const bool works = backfill.state == BackfillState::kRunning && job.definition.enabled;
  if (works && tables_.FindSchedule(backfill.terms.schedule_id)->readable) {
    CARILLON_TRY(CreateRuns(backfill, job, now, retention, &effect));
  }
  if (!IsOpen(backfill.state) && backfill.runs.empty()) backfill.ended = now;
  effect.open = backfill.runs;
  return effect;
}

}  // namespace carillon::memory
