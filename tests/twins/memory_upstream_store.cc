#include "tests/twins/memory_upstream_store.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

bool MakesFires(const ScheduleEntry& schedule) {
  const ScheduleKind kind = schedule.spec.kind;
  return !schedule.readable || (kind != ScheduleKind::kAfter && kind != ScheduleKind::kEvent);
}

Status CheckItems(const std::vector<WaitItem>& items, const Fence& fence) {
  if (items.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "waits: more than kBatchRowsMax items"};
  }
  for (const WaitItem& item : items) {
    const auto covers = [&](const FencedSegment& held) { return held.segment == item.segment; };
    if (std::any_of(fence.begin(), fence.end(), covers)) continue;
    return {ErrorCode::kInvalid, "waits: run " + EncodeRunId(item.key) + " is outside the fence"};
  }
  return {};
}

}  // namespace

AwaitingRun MemoryUpstreamStore::Describe(const RunEntry& entry) {
  AwaitingRun run{.row = entry.row, .planned = entry.planned};
  const auto given = GivenFromText(entry.parameters_json);
  if (given.ok()) run.kept_zone = given->time_zone;
  const WorkflowEntry* workflow = tables_.WorkflowOfNode(entry.row.key);
  if (run.kept_zone.empty() && workflow != nullptr) run.kept_zone = workflow->parameters.time_zone;
  return run;
}

Result<AwaitingPage> MemoryUpstreamStore::ScanAwaiting(const std::vector<SegmentId>& segments,
                                                       WallTime until, std::optional<RunKey> after,
                                                       size_t limit) {
  MutexLock lock(tables_.mu);
  std::set<RunKey> keys;
  for (const SegmentId segment : segments) {
    if (!tables_.HasSegment(segment)) continue;
    const MemoryTables::PendingIndex& pending = tables_.pending(segment);
    auto at = after ? pending.upper_bound({kAwaiting, *after})
                    : pending.lower_bound({kAwaiting, RunKey{}});
    for (; at != pending.end() && at->first == kAwaiting && at->second.fire <= until; ++at) {
      keys.insert(at->second);
    }
  }
  AwaitingPage page;
  for (const RunKey& key : keys) {
    if (page.runs.size() == limit) {
      page.next = page.runs.back().row.key;
      break;
    }
    page.runs.push_back(Describe(*tables_.FindRun(key)));
  }
  return page;
}

JobCauses MemoryUpstreamStore::CausesOf(const JobEntry& job) {
  JobCauses causes{.job_no = job.job_no};
  for (const ScheduleId id : job.schedules) {
    causes.has_times |= !job.deleted && MakesFires(*tables_.FindSchedule(id));
  }
  for (const auto& [id, entry] : tables_.dependencies) {
    const Dependent& dependent = entry.dependent;
    if (dependent.job_no != job.job_no || dependent.on == AfterOutcome::kFailure) continue;
    causes.before.push_back(entry.upstream);
    causes.by_end.push_back(entry.upstream);
  }
  for (const auto& [workflow, nodes] : tables_.node_jobs) {
    if (nodes.contains(job.job_no)) causes.before.push_back(workflow);
  }
  return causes;
}

void MemoryUpstreamStore::AddSchedules(const JobEntry& job, UpstreamSources* found) {
  if (job.deleted) return;
  for (const ScheduleId id : job.schedules) {
    const ScheduleEntry& schedule = *tables_.FindSchedule(id);
    if (!MakesFires(schedule)) continue;
    SourceSchedule source{.job_no = job.job_no,
                          .id = id,
                          .next = schedule.next_fire,
                          .paused = !job.definition.enabled};
    if (schedule.awaited != WallTime{}) source.next = schedule.awaited + 1us;
    found->schedules.push_back(source);
  }
}

void MemoryUpstreamStore::AddBackfills(UpstreamSources* found) {
  for (const auto& [number, backfill] : tables_.backfills) {
    if (!IsOpen(backfill.state) || tables_.FindJob(backfill.job_no)->deleted) continue;
    if (std::ranges::find(found->jobs, backfill.job_no) == found->jobs.end()) continue;
    const BackfillTerms& terms = backfill.terms;
    const BackfillSpan left = SpanLeft(terms.from, terms.to, terms.order, backfill.cursor);
    if (left.from >= left.until) continue;
    found->backfills.push_back({number, backfill.job_no, left.from, left.until});
  }
}

Result<UpstreamSources> MemoryUpstreamStore::SourcesOf(const UpstreamTarget& target) {
  UpstreamSources found;
  const JobEntry* job = tables_.FindJob(target.job);
  const JobEntry* in = target.in.empty() ? nullptr : tables_.FindJob(target.in);
  if (job != nullptr) {
    found.job_no = job->job_no;
    found.job_name = job->definition.name;
    found.deleted = job->deleted;
  }
  if (in != nullptr) {
    found.in_no = in->job_no;
    found.deleted = found.deleted || in->deleted;
    const auto nodes = tables_.node_jobs.find(in->job_no);
    found.not_a_node = nodes == tables_.node_jobs.end() || !nodes->second.contains(found.job_no);
  }
  const bool gone = job == nullptr || (in == nullptr && !target.in.empty());
  if (gone || found.deleted || found.not_a_node) return found;
  const auto read = [this](const std::vector<JobNo>& jobs)
                        REQUIRES(tables_.mu) -> Result<std::vector<JobCauses>> {
    std::vector<JobCauses> causes;
    for (const JobNo job_no : jobs) causes.push_back(CausesOf(*tables_.FindJob(job_no)));
    return causes;
  };
  CARILLON_TRY(FindSources(in == nullptr ? found.job_no : found.in_no, read, &found));
  if (found.too_many) found.jobs.clear();
  for (const JobNo job_no : found.jobs) AddSchedules(*tables_.FindJob(job_no), &found);
  std::sort(found.schedules.begin(), found.schedules.end(),
            [](const SourceSchedule& a, const SourceSchedule& b) { return a.id < b.id; });
  AddBackfills(&found);
  return found;
}

Result<std::vector<UpstreamSources>> MemoryUpstreamStore::ReadSources(
    const std::vector<UpstreamTarget>& targets) {
  MutexLock lock(tables_.mu);
  std::vector<UpstreamSources> all;
  for (const UpstreamTarget& target : targets) {
    CARILLON_ASSIGN_OR_RETURN(UpstreamSources found, SourcesOf(target));
    all.push_back(std::move(found));
  }
  return all;
}

// Its workflow run, or one around it, has begun anew.
bool MemoryUpstreamStore::IsReplaced(const RunKey& node) {
  const WorkflowEntry* workflow = tables_.WorkflowOfNode(node);
  while (workflow != nullptr) {
    if (tables_.FindWorkflow(workflow->own) != workflow) return true;
    workflow = tables_.WorkflowOfNode(workflow->own);
  }
  return false;
}

bool MemoryUpstreamStore::IsAskedFor(const UpstreamSources& sources, const UpstreamRun& run) {
  if (std::ranges::find(sources.jobs, run.job_no) != sources.jobs.end()) return true;
  if (run.job_no != sources.job_no) return false;
  return sources.in_no == JobNo{} || run.workflow == sources.in_no;
}

// The ends of these jobs upon which nobody has acted yet.
std::set<RunKey> MemoryUpstreamStore::PendingEndsOf(const std::vector<JobNo>& jobs) {
  std::set<RunKey> ends;
  for (const auto& [id, end] : tables_.completions) {
    if (end.target != CompletionTarget::kDependents) continue;
    if (std::ranges::find(jobs, end.job_no) != jobs.end()) ends.insert(end.key);
  }
  return ends;
}

UpstreamRuns MemoryUpstreamStore::RunsOf(const UpstreamSpan& span) {
  const std::set<RunKey> ends = PendingEndsOf(span.sources.by_end);
  std::map<JobNo, int64_t> counts;
  UpstreamRuns found;
  const auto& runs = tables_.runs();
  const auto begin = runs.lower_bound(RunKey{.fire = span.from});
  auto at = runs.lower_bound(RunKey{.fire = span.to + Duration(kSameFireMax)});
  while (at != begin) {
    --at;
    const RunRow& row = at->second.row;
    const WorkflowEntry* workflow = tables_.WorkflowOfNode(row.key);
    UpstreamRun run{.key = row.key,
                    .job_no = row.job_no,
                    .state = row.state,
                    .reason = at->second.result.reason,
                    .workflow = workflow == nullptr ? JobNo{} : workflow->job_no,
                    .end_pending = ends.contains(row.key),
                    .background = IsBackground(row.flags)};
    if (row.key.shard != 0 || !IsDated(row.kind, row.flags) || !IsAskedFor(span.sources, run)) {
      continue;
    }
    if (NeverRan(run.state, run.reason) || IsReplaced(row.key)) continue;
    if (row.key.fire < found.known_from) continue;
    if (++counts[row.job_no] > kUpstreamRunsMax) {
      found.known_from = row.key.fire + 1us;
      continue;
    }
    found.runs.push_back(std::move(run));
  }
  std::erase_if(found.runs, [&](const auto& run) { return run.key.fire < found.known_from; });
  std::reverse(found.runs.begin(), found.runs.end());
  return found;
}

Result<std::vector<UpstreamRuns>> MemoryUpstreamStore::ReadUpstreamRuns(
    const std::vector<UpstreamSpan>& spans) {
  MutexLock lock(tables_.mu);
  std::vector<UpstreamRuns> all;
  for (const UpstreamSpan& span : spans) all.push_back(RunsOf(span));
  return all;
}

void MemoryUpstreamStore::Release(RunEntry entry, WallTime now, WaitEffect* effect) {
  const RunKey key = entry.row.key;
  const JobEntry& job = *tables_.FindJob(entry.row.job_no);
  entry.row.due = DueAfterWait(entry.row, !job.definition.enabled, now);
  effect->blocked = entry.row.due == kBlocked;
  if (IsTime(entry.row.due)) effect->due = entry.row;
  tables_.PutRun(std::move(entry));
  const WorkflowEntry* workflow = effect->blocked ? tables_.WorkflowOfNode(key) : nullptr;
  if (workflow != nullptr) tables_.WakeUpWorkflow(*workflow, now);
}

void MemoryUpstreamStore::Expire(RunEntry entry, const WaitItem& item, WallTime now,
                                 WaitEffect* effect) {
  effect->failed = true;
  effect->completed = IsAwaited(entry.row);
  const RunChange change = UnmetChange(entry.row);
  const AttemptResult result{
      .state = change.state, .reason = change.reason, .error = item.error, .ended = now};
  CARILLON_CHECK(WriteChange(tables_, std::move(entry), change, result, now).ok(),
                 "the end of a wait reopens no final run");
}

Result<std::vector<WaitEffect>> MemoryUpstreamStore::EndWaits(const std::vector<WaitItem>& items,
                                                              const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckItems(items, fence));
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  std::vector<WaitEffect> effects;
  for (const WaitItem& item : items) {
    WaitEffect& effect = effects.emplace_back(WaitEffect{.key = item.key});
    const RunEntry* found = tables_.FindRun(item.key);
    if (found == nullptr || !StillWaits(found->row, item)) continue;
    if (item.expired) {
      Expire(*found, item, now, &effect);
    } else {
      Release(*found, now, &effect);
    }
  }
  return effects;
}

Result<RunDetail> MemoryUpstreamStore::ReleaseRun(const RunKey& key, const WriteContext& context) {
  MutexLock lock(tables_.mu);
  const RunEntry* found = tables_.FindRun(key);
  if (found == nullptr) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  CARILLON_TRY(CheckReleasable(found->row));
  WaitEffect effect;
  Release(*found, context.now, &effect);
  return ToDetail(tables_, *tables_.FindRun(key), true);
}

}  // namespace carillon::memory
