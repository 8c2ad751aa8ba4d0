#include "tests/twins/memory_run_store.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "common/base/stable_hash.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/run/dependents.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/run/run_listing.h"
#include "common/domain/run_id.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/job/parameters_json.h"
#include "tests/twins/memory_counts.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_part_retry.h"
#include "tests/twins/memory_parts.h"
#include "tests/twins/memory_run_writes.h"
#include "tests/twins/memory_workflow_runs.h"

namespace carillon::memory {
namespace {

template <typename T>
bool Contains(const std::vector<T>& list, const T& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// True for a run that is planned but not yet due, which needs no attention.
bool IsAhead(const RunRow& row, WallTime now) {
  return row.state == RunState::kPending && row.attempt == 1 && IsPlannedAhead(row.kind) &&
         row.key.fire > now;
}

bool HasLabels(const JobDefinition& job,
               const std::map<std::string, std::vector<std::string>>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
    const auto found = job.labels.find(label.first);
    return found != job.labels.end() && Contains(label.second, found->second);
  });
}

bool IsWanted(const GapFilter& filter, const GapRange& gap) {
  if (filter.since && gap.to < *filter.since) return false;
  if (filter.until && gap.from >= *filter.until) return false;
  return filter.reasons.empty() || Contains(filter.reasons, gap.reason);
}

}  // namespace

Result<CreatedRun> MemoryRunStore::ExecuteJob(const ExecuteRequest& request,
                                              const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, tables_.FindReadableJob(request.job_id));
  CARILLON_TRY(CheckParametersText(job->definition, request.parameters_json));
  if (job->manual == ScheduleId()) job->manual = ScheduleId(tables_.schedule_numbers.Take(0, 0));
  if (tables_.FindSchedule(job->manual) == nullptr) {
    tables_.PutSchedule({.id = job->manual,
                         .job_no = job->job_no,
                         .segment = job->segment,
                         .spec = {},
                         .active = false});
  }
  RunKey key{.fire = context.now, .schedule_id = job->manual};
  while (tables_.FindRun(key) != nullptr) key.fire += 1us;
  const CreatedRun created{key, job->job_no, job->segment};
  if (request.keyed) {
    CARILLON_TRY(tables_.CheckUnsettled(request.keyed->scope, request.keyed->key));
    tables_.Settle(*request.keyed, created);
  }
  RunEntry entry;
  entry.row = {.key = key,
               .job_no = job->job_no,
               .segment = job->segment,
               .kind = RunKind::kManual,
               .due = key.fire,
               .priority = request.priority.value_or(job->definition.priority),
               .def_version = job->version,
               .pinned_executor = request.executor,
               .flags = EndFlags(RunKind::kManual, 0, job->has_dependents) |
                        BehalfFlagOf(request.parameters_json, job->definition.user_id)};
  entry.planned = context.now;
  entry.parameters_json = request.parameters_json;
  entry.trace_id = request.trace_id;
  tables_.PutRun(std::move(entry));
  return created;
}

Result<bool> MemoryRunStore::CancelRun(const RunKey& key, const WriteContext& context) {
  MutexLock lock(tables_.mu);
  const RunEntry* found = tables_.FindRun(key);
  if (found == nullptr) return NotOpenable(key);
  if (context.give_up) {
    CARILLON_TRY(GiveUpOne(tables_, RunEntry(*found), context));
    return true;
  }
  const bool done = CancelOne(tables_, RunEntry(*found), context);
  if (done) CancelNodesOf(tables_, {key}, context);
  ReportEnds(tables_, context);
  return done;
}

Result<int64_t> MemoryRunStore::CancelJobRuns(const JobId& id, const WriteContext& context) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, tables_.FindLiveJob(id));
  const std::set<RunKey> open = job->open;
  int64_t cancelled = 0;
  std::vector<RunKey> looked_at;
  for (const RunKey& key : open) {
    if (IsPart(key)) continue;  // it goes with its own run
    if (IsAhead(tables_.FindRun(key)->row, context.now)) continue;
    if (CancelOne(tables_, RunEntry(*tables_.FindRun(key)), context)) ++cancelled;
    looked_at.push_back(key);
  }
  CancelNodesOf(tables_, std::move(looked_at), context);  // after the ends of all runs of the job
  ReportEnds(tables_, context);
  return cancelled;
}

Result<RunDetail> MemoryRunStore::RetryRun(const RetryRequest& request,
                                           const WriteContext& context) {
  MutexLock lock(tables_.mu);
  const RunKey& key = request.key;
  const RunKey own = OwnRunOf(key);
  const RunEntry* found = tables_.FindRun(own);
  if (found == nullptr) return NotOpenable(own);
  WorkflowRetry choice = request.workflow;
  choice.overlap = context.overlap();
  CARILLON_ASSIGN_OR_RETURN(const auto planned,
                            PlanWorkflowRetry(tables_, own, choice, &context.decider));
  if (planned) {
    if (request.parts || IsPart(key)) return RetriedByWorkflow(own);
    if (request.keyed) {
      CARILLON_TRY(tables_.CheckUnsettled(request.keyed->scope, request.keyed->key));
    }
    WriteWorkflowRetry(tables_, *planned, context.now);
    ReportEnds(tables_, context);
    RunDetail retried = ToDetail(tables_, *tables_.FindRun(key), true);
    if (request.keyed) tables_.Settle(*request.keyed, retried);
    return retried;
  }
  const JobEntry& entry = *tables_.FindJob(found->row.job_no);
  if (!IsReadable(entry)) {
    return {ErrorCode::kCorrupt, "job " + entry.id.value() + ": its definition cannot be read"};
  }
  if (IsRetriedByParts(found->row)) {
    if (request.keyed) {
      CARILLON_TRY(tables_.CheckUnsettled(request.keyed->scope, request.keyed->key));
    }
    CARILLON_TRY(RetryParts(tables_, own, ChoiceOf(key, request.parts), context));
    RunDetail retried = ToDetail(tables_, *tables_.FindRun(key), true);
    if (request.keyed) tables_.Settle(*request.keyed, retried);
    return retried;
  }
  if (request.parts || IsPart(key)) return NoPartsToRetry(found->row);
  const JobRow job = JobOf(tables_, found->row);
  RunRow row = found->row;
  // If the current attempt was reported after it was given up as lost, that report is among the
  // earlier attempts.
  for (const RunAttempt& known : found->attempts) {
    if (known.attempt == row.attempt) row.may_still_run = false;
  }
  CARILLON_ASSIGN_OR_RETURN(const RunChange change,
                            DecideRetryByHand(row, job, context.overlap(), context.now));
  CARILLON_TRY(AskLostFacts(tables_, *found, entry));
  AttemptResult ended = found->result;
  // A lost attempt stays LOST, because its real end may still be reported.
  if (ended.state != RunState::kLost) ended.state = found->row.state;
  if (request.keyed) CARILLON_TRY(tables_.CheckUnsettled(request.keyed->scope, request.keyed->key));
  RunEntry changed = *found;
  // The run may have ended before others began to wait for its job.
  changed.row.flags |= EndFlags(row.kind, row.flags, entry.has_dependents);
  CARILLON_TRY(WriteChange(tables_, std::move(changed), change, ended, context.now));
  RunDetail retried = ToDetail(tables_, *tables_.FindRun(key), true);
  if (request.keyed) tables_.Settle(*request.keyed, retried);
  return retried;
}

Result<RunDetail> MemoryRunStore::GetRun(const RunKey& key) {
  MutexLock lock(tables_.mu);
  const RunEntry* found = tables_.FindRun(key);
  if (found != nullptr) return ToDetail(tables_, *found, true);
  const auto kept = tables_.kept.find(key);
  if (kept == tables_.kept.end()) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  return KeptDetail(kept->second);
}

Result<std::vector<RunPart>> MemoryRunStore::ListParts(const RunKey& own) {
  MutexLock lock(tables_.mu);
  if (tables_.FindRun(own) == nullptr && !tables_.kept.contains(own)) {
    return {ErrorCode::kNotFound, "no run " + EncodeRunId(own)};
  }
  std::vector<RunPart> parts;
  for (const RunKey& key : PartsOf(tables_, own)) parts.push_back(ToPart(*tables_.FindRun(key)));
  return parts;
}

Result<std::map<RunKey, PartCounts>> MemoryRunStore::CountParts(const std::vector<RunKey>& owns) {
  MutexLock lock(tables_.mu);
  std::map<RunKey, PartCounts> counts;
  for (const RunKey& own : owns) {
    for (const RunKey& key : PartsOf(tables_, own)) ++counts[own][tables_.FindRun(key)->row.state];
  }
  return counts;
}

Error MemoryRunStore::NotOpenable(const RunKey& key) {
  if (tables_.kept.contains(key)) return OnlyKept(key);
  return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
}

RunDetail MemoryRunStore::KeptDetail(const RunEntry& entry) {
  RunDetail detail = ToDetail(tables_, entry, false);
  detail.kept = true;
  return detail;
}

Result<std::vector<RecentRuns>> MemoryRunStore::ListRecentRuns(const RecentFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<RecentRuns> recent;
  for (const JobId& id : filter.job_ids) {
    const JobEntry* job = tables_.FindJob(id);
    if (job == nullptr || job->deleted) continue;
    RecentRuns& found = recent.emplace_back(RecentRuns{.job_id = id, .runs = {}});
    auto it = tables_.runs().upper_bound({filter.until, ScheduleId(UINT64_MAX), UINT32_MAX});
    while (it != tables_.runs().begin() && found.runs.size() < filter.runs_max) {
      const auto& [key, entry] = *--it;
      if (entry.row.job_no != job->job_no || IsPart(key)) continue;
      found.runs.push_back({.key = key,
                            .state = entry.row.state,
                            .started = entry.result.started,
                            .ended = entry.result.ended});
    }
    for (const auto& [key, entry] : tables_.kept) {
      if (entry.row.job_no != job->job_no || key.fire > filter.until) continue;
      found.runs.push_back({.key = key,
                            .state = entry.row.state,
                            .started = entry.result.started,
                            .ended = entry.result.ended});
    }
    std::sort(found.runs.begin(), found.runs.end(),
              [](const RunSummary& a, const RunSummary& b) { return b.key < a.key; });
    if (found.runs.size() > filter.runs_max) found.runs.resize(filter.runs_max);
  }
  return recent;
}

bool MemoryRunStore::Matches(const RunEntry& entry, const RunFilter& filter, WallTime now) {
  const RunRow& row = entry.row;
  if (IsPart(row.key) && !filter.parts) return false;
  const bool awaits = row.state == RunState::kPending && row.due == kAwaiting;
  if (filter.awaiting && (!awaits || row.key.fire > now)) return false;
  const bool is_open = row.state == RunState::kPending && row.due == filter.opened;
  if (filter.opened && !is_open) return false;
  if (filter.since && row.key.fire < *filter.since) return false;
  if (filter.until && row.key.fire >= *filter.until) return false;
  if (filter.executor && row.executor != *filter.executor) return false;
  if (filter.job_id && filter.opened && !IsTaskJob(row.job_no)) return false;
  const JobNo listed = filter.opened ? OwnerOf(row.job_no) : row.job_no;
  if (filter.job_id && tables_.FindJob(listed)->id != *filter.job_id) return false;
  const JobEntry& owner = tables_.OwnerOf(row.job_no);
  const JobDefinition& job = owner.definition;
  if (filter.user_id && job.user_id != *filter.user_id) return false;
  if (!filter.namespaces.empty() && !Contains(filter.namespaces, job.name_space)) return false;
  if (!NameContains(owner, filter.name_contains)) return false;
  if (!HasLabels(job, filter.labels)) return false;
  if (!filter.kinds.empty() && !Contains(filter.kinds, row.kind)) return false;
  if (!filter.states.empty()) return Contains(filter.states, row.state);
  return IsListed(row, filter.job_id ? ListOf::kOneJob : ListOf::kAllJobs, now);
}

Result<RunPage> MemoryRunStore::ListRuns(const RunFilter& filter, WallTime now) {
  MutexLock lock(tables_.mu);
  RunPage page = ListStored(filter, now);
  if (filter.job_id) AddKept(filter, now, page);
  return page;
}

void MemoryRunStore::AddKept(const RunFilter& filter, WallTime now, RunPage& page) {
  const auto comes_before = [&](const RunKey& a, const RunKey& b) {
    return filter.oldest_first ? a < b : b < a;
  };
  for (const auto& [key, entry] : tables_.kept) {
    if (filter.before && !comes_before(*filter.before, key)) continue;
    if (page.searched_to && comes_before(*page.searched_to, key)) continue;
    if (Matches(entry, filter, now)) page.runs.push_back(KeptDetail(entry));
  }
  std::sort(page.runs.begin(), page.runs.end(), [&](const RunDetail& a, const RunDetail& b) {
    return comes_before(a.row.key, b.row.key);
  });
  if (page.runs.size() < filter.limit) return;
  page.runs.resize(filter.limit);
  page.searched_to.reset();
}

RunPage MemoryRunStore::ListStored(const RunFilter& filter, WallTime now) {
  const std::map<RunKey, RunEntry>& runs = tables_.runs();
  RunPage page;
  const bool searches = filter.looks_at_runs() || !filter.states.empty();
  size_t searched = 0;
  // Returns false when the page ends.
  const auto look = [&](const RunKey& key, const RunEntry& entry) REQUIRES(tables_.mu) {
    if (Matches(entry, filter, now)) page.runs.push_back(ToDetail(tables_, entry, false));
    if (searches && ++searched == filter.search_max) page.searched_to = key;
    return page.runs.size() < filter.limit && !page.searched_to;
  };
  if (filter.oldest_first) {
    auto it = filter.before ? runs.upper_bound(*filter.before) : runs.begin();
    while (it != runs.end() && look(it->first, it->second)) ++it;
    return page;
  }
  auto it = filter.before ? runs.lower_bound(*filter.before) : runs.end();
  while (it != runs.begin()) {
    --it;
    if (filter.since && it->first.fire < *filter.since) break;
    if (!look(it->first, it->second)) break;
  }
  return page;
}

Result<uint64_t> MemoryRunStore::RunsFingerprint(WallTime now) {
  MutexLock lock(tables_.mu);
  const std::map<RunKey, RunEntry>& runs = tables_.runs();
  std::string text;
  size_t newest = 0;
  for (auto it = runs.upper_bound({now, ScheduleId(UINT64_MAX), UINT32_MAX}); it != runs.begin();) {
    --it;
    const RunRow& row = it->second.row;
    const bool open = !IsFinal(row.state) && row.due <= now;
    if (!IsPart(row.key)) ++newest;
    if ((newest > kMarkedRuns || IsPart(row.key)) && !open) continue;
    text +=
        fmt::format("{} {} {}\n", EncodeRunId(row.key), static_cast<int>(row.state), row.attempt);
  }
  return StableHash(text);
}

Result<GapPage> MemoryRunStore::ListGaps(const GapFilter& filter) {
  MutexLock lock(tables_.mu);
  GapPage page;
  auto it = tables_.gaps.lower_bound(filter.before_id);
  std::optional<uint64_t> last;
  while (it != tables_.gaps.begin()) {
    --it;
    const JobEntry& job = *tables_.FindJob(it->second.job_no);
    if (filter.job_id && job.id != *filter.job_id) continue;
    if (!IsWanted(filter, it->second.range)) continue;
    if (page.gaps.size() >= filter.limit) {
      page.next = last;
      break;
    }
    page.gaps.push_back({it->second.schedule_id, job.id, it->second.range});
    last = it->first;
  }
  return page;
}

Result<RunCounts> MemoryRunStore::CountOpenRuns() {
  MutexLock lock(tables_.mu);
  RunCounts counts;
  for (const auto& [job_no, job] : tables_.jobs()) {
    for (const RunKey& key : job.open) {
      if (IsPart(key)) continue;
      const bool pending = tables_.FindRun(key)->row.state == RunState::kPending;
      ++(pending ? counts.pending : counts.running);
    }
  }
  counts.pending = std::min(counts.pending, kCountedMax);
  counts.running = std::min(counts.running, kCountedMax);
  return counts;
}

Result<std::vector<DeadLetter>> MemoryRunStore::ListDeadLetters(const DeadLetterFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<DeadLetter> page;
  auto it = tables_.dead_letters.lower_bound(filter.before_id);
  while (it != tables_.dead_letters.begin() && page.size() < filter.limit) {
    --it;
    if (!filter.job_id || it->second.job_id == *filter.job_id) page.push_back(it->second);
  }
  return page;
}

Result<DeadLetterJobPage> MemoryRunStore::ListDeadLetterJobs(const DeadLetterJobFilter& filter) {
  MutexLock lock(tables_.mu);
  DeadLetterJobPage page;
  std::set<JobId> seen;
  size_t read = 0;
  uint64_t last = 0;
  for (auto it = tables_.dead_letters.rbegin(); it != tables_.dead_letters.rend(); ++it) {
    const DeadLetter& letter = it->second;
    if (!seen.insert(letter.job_id).second || letter.id >= filter.before_id) continue;
    if (read == filter.limit) {
      page.next = last;
      break;
    }
    ++read;
    last = letter.id;
    const JobEntry& job = *tables_.FindJob(letter.job_id);
    if (!job.deleted) page.jobs.push_back({job.id, job.definition.name, letter.id});
  }
  return page;
}

Result<DeadLetter> MemoryRunStore::GetDeadLetter(uint64_t id) {
  MutexLock lock(tables_.mu);
  const auto letter = tables_.dead_letters.find(id);
  if (letter == tables_.dead_letters.end()) {
    return {ErrorCode::kNotFound, fmt::format("no dead letter {}", id)};
  }
  return letter->second;
}

Status MemoryRunStore::DiscardDeadLetter(uint64_t id) {
  MutexLock lock(tables_.mu);
  if (tables_.dead_letters.erase(id) > 0) return {};
  return {ErrorCode::kNotFound, fmt::format("no dead letter {}", id)};
}

Result<BoundedCount> MemoryRunStore::CountRuns(const RunFilter& filter, WallTime now) {
  RunFilter all = WithLimit(filter);
  all.before.reset();
  all.search_max = std::min(filter.search_max, kRunCountLookedAtMax);
  CARILLON_ASSIGN_OR_RETURN(const RunPage page, ListRuns(all, now));
  return Bounded(page.runs.size(), !page.searched_to);
}

Result<BoundedCount> MemoryRunStore::CountGaps(const GapFilter& filter) {
  GapFilter all = WithLimit(filter);
  all.before_id = UINT64_MAX;
  CARILLON_ASSIGN_OR_RETURN(const GapPage page, ListGaps(all));
  return Bounded(page.gaps.size());
}

Result<BoundedCount> MemoryRunStore::CountDeadLetters(const DeadLetterFilter& filter) {
  return Bounded(ListDeadLetters(WithLimit(filter)));
}

}  // namespace carillon::memory
