#include "tests/twins/memory_firing_store.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/check.h"
#include "common/base/failpoint.h"
#include "common/domain/job/job_types.h"
#include "common/domain/nodes/for_run.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/run/plain.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_key.h"
#include "tests/twins/memory_claims.h"
#include "tests/twins/memory_losses.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_open_runs.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

bool FenceCovers(const Fence& fence, SegmentId segment) {
  return std::any_of(fence.begin(), fence.end(),
                     [segment](const FencedSegment& held) { return held.segment == segment; });
}

template <typename Item>
Status CheckBatch(const std::vector<Item>& items, const Fence& fence, std::string_view what) {
  if (items.size() > kBatchRowsMax) {
    return {ErrorCode::kExhausted, std::string(what) + ": more than kBatchRowsMax items"};
  }
  for (const Item& item : items) {
    if (!FenceCovers(fence, item.segment)) {
      return {ErrorCode::kInvalid,
              std::string(what) + ": run " + EncodeRunId(item.key) + " is outside the fence"};
    }
  }
  return {};
}

// True if a report that does not change the run still contains new information about its attempt.
bool IsNews(const RunEntry& entry, const ResultReport& report) {
  if (report.attempt < entry.row.attempt) return true;
  // The run ended as lost; this report is how the attempt really ended.
  return report.attempt == entry.row.attempt && IsFinal(entry.row.state) &&
         entry.row.claim_token == report.token && entry.result.state == RunState::kLost;
}

// Splits a batch as the MariaDB adapter does: if all items that may be plain are plain, they are
// written without a decision for each row. Otherwise each item gets its own decision.
template <typename Item, typename MayBe, typename Is>
PlainSplit Split(const std::vector<Item>& items, MayBe may_be, Is is_plain) {
  PlainSplit split = SplitPlain(items, may_be);
  const bool all = std::all_of(split.plain.begin(), split.plain.end(),
                               [&](size_t place) { return is_plain(items[place]); });
  failpoint::Hit(all ? "twin.plain.held" : "twin.plain.missed");  // as in plain_writes.cc
  return all ? split : SplitPlain(items, [](const Item&) { return false; });
}

// Tests let the twin read the rows of runs planned ahead, as if it did not know their kinds.
bool Readable(const RunEntry& entry) {
  return !failpoint::Broken("twin.plain") || !IsPlannedAhead(entry.row.kind);
}

// Writes only the run's own columns, as the statement of the MariaDB adapter does.
RunEffect WritePlain(MemoryTables& tables, RunEntry entry, const ResultReport& report)
    REQUIRES(tables.mu) {
  entry.row.state = RunState::kCompleted;
  entry.result = report.result;
  tables.PutRun(std::move(entry));
  return {.key = report.key, .state = RunState::kCompleted};
}

}  // namespace

Result<std::vector<DueSchedule>> MemoryFiringStore::ScanDue(const std::vector<SegmentId>& segments,
                                                            WallTime until, size_t limit) {
  MutexLock lock(tables_.mu);
  return DueSchedules(tables_, segments, until, limit);
}

Result<std::vector<DueSchedule>> MemoryFiringStore::ScanOutdated(
    const std::vector<SegmentId>& segments, const std::vector<CalendarAt>& calendars,
    size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<DueSchedule> found;
  for (const auto& [id, schedule] : tables_.schedules()) {
    if (found.size() >= limit) break;
    if (!schedule.active ||
        std::find(segments.begin(), segments.end(), schedule.segment) == segments.end()) {
      continue;
    }
    const bool outdated =
        std::any_of(calendars.begin(), calendars.end(), [&](const CalendarAt& calendar) {
          return (schedule.calendars.calendar == calendar.number ||
                  schedule.calendars.blackout == calendar.number) &&
                 schedule.calendar_version < calendar.version;
        });
    if (outdated) found.push_back(ToDue(tables_, schedule));
  }
  return found;
}

Result<PendingPage> MemoryFiringStore::ScanPending(const std::vector<SegmentId>& segments,
                                                   WallTime until,
                                                   std::optional<std::pair<WallTime, RunKey>> after,
                                                   size_t limit) {
  MutexLock lock(tables_.mu);
  return PendingRuns(tables_, segments, until, after, limit);
}

Result<JobPendingPage> MemoryFiringStore::ScanPendingOfJob(const JobWindow& window,
                                                           std::optional<RunKey> after,
                                                           size_t limit) {
  MutexLock lock(tables_.mu);
  return PendingRunsOfJob(tables_, window, after, limit);
}

Result<RunningPage> MemoryFiringStore::ScanRunning(const std::vector<SegmentId>& segments,
                                                   std::optional<RunCursor> after, size_t limit) {
  MutexLock lock(tables_.mu);
  return PageOf(tables_, &MemoryTables::running, segments, after, limit);
}

Result<RunningPage> MemoryFiringStore::ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                          std::optional<RunCursor> after,
                                                          size_t limit) {
  MutexLock lock(tables_.mu);
  RunningPage page = PageOf(tables_, &MemoryTables::cancels, segments, after, limit);
  for (const RunRow& row : page.runs) {
    if (tables_.FindRun(row.key)->given_up == row.attempt) page.given_up.insert(row.key);
  }
  return page;
}

Result<RunningPage> MemoryFiringStore::ScanPresumed(const std::vector<SegmentId>& segments,
                                                    std::optional<RunCursor> after, size_t limit) {
  MutexLock lock(tables_.mu);
  return PageOf(tables_, &MemoryTables::presumed, segments, after, limit);
}

Result<OverdueReport> MemoryFiringStore::ReadOverdue(WallTime now) {
  MutexLock lock(tables_.mu);
  return Overdue(tables_, now);
}

Status MemoryFiringStore::CheckAdvances(const PlanBatch& batch) const {
  std::map<ScheduleId, WallTime> moved;
  for (const ScheduleAdvance& advance : batch.advances) {
    const ScheduleEntry* schedule = tables_.FindSchedule(advance.schedule_id);
    const auto earlier = moved.find(advance.schedule_id);
    const bool matches =
        schedule != nullptr && schedule->active && schedule->version == advance.version &&
        (earlier == moved.end() ? schedule->next_fire : earlier->second) == advance.expected_next;
    if (!matches) {
      return {ErrorCode::kConflict, "plan: schedule " +
                                        std::to_string(advance.schedule_id.value()) +
                                        " moved since it was read"};
    }
    if (schedule->calendar_version != advance.calendar_version) {
      return {ErrorCode::kConflict, "plan: the calendar of schedule " +
                                        std::to_string(advance.schedule_id.value()) + " changed"};
    }
    moved[advance.schedule_id] = advance.next_fire;
  }
  return {};
}

Status MemoryFiringStore::CheckNewRuns(const PlanBatch& batch) {
  std::set<RunKey> fresh;
  for (const PlannedRun& run : batch.runs) {
    if (tables_.FindJob(run.job_no) == nullptr) {
      return {ErrorCode::kInvalid, "plan: no job " + std::to_string(run.job_no.value())};
    }
    if (tables_.FindRun(run.key) != nullptr || !fresh.insert(run.key).second) {
      return {ErrorCode::kConflict, "plan: run " + EncodeRunId(run.key) + " exists"};
    }
  }
  return {};
}

Status MemoryFiringStore::Plan(const PlanBatch& batch, const Fence& fence, WallTime now) {
  if (std::max({batch.runs.size(), batch.advances.size(), batch.gaps.size()}) > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "plan: more than kBatchRowsMax rows"};
  }
  for (const PlannedRun& run : batch.runs) {
    if (!FenceCovers(fence, run.segment)) return {ErrorCode::kInvalid, "plan: run outside fence"};
  }
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  CARILLON_TRY(CheckAdvances(batch));
  CARILLON_TRY(CheckNewRuns(batch));
  for (const ScheduleAdvance& advance : batch.advances) {
    ScheduleEntry schedule = *tables_.FindSchedule(advance.schedule_id);
    schedule.next_fire = advance.next_fire;
    schedule.awaited = advance.awaited;
    schedule.calendar_version = advance.new_calendar_version.value_or(schedule.calendar_version);
    tables_.PutSchedule(std::move(schedule));
  }
  for (const PlannedRun& run : batch.runs) {
    tables_.PutRun({.row = {.key = run.key,
                            .job_no = run.job_no,
                            .segment = run.segment,
                            .kind = run.kind,
                            .due = run.due,
                            .priority = run.priority,
                            .def_version = run.def_version,
                            .shard_total = run.shard_total,
                            .flags = run.flags},
                    .planned = now});
  }
  for (const PlannedGap& gap : batch.gaps) {
    AddGap(tables_, gap.schedule_id, gap.job_no, gap.range);
    AddNotice(tables_, {.kind = NoticeKind::kMissed,
                        .segment = tables_.SegmentOf(gap.job_no),
                        .job_no = gap.job_no,
                        .key = {gap.range.from, gap.schedule_id, 0},
                        .state = RunState::kSkipped,
                        .reason = std::string(Name(gap.range.reason)),
                        .fires = gap.range.count,
                        .until = gap.range.to,
                        .created = now});
  }
  return {};
}

Result<std::vector<ClaimReply>> MemoryFiringStore::Claim(const std::vector<ClaimRequest>& requests,
                                                         const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(requests, fence, "claim"));
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  PlainSplit split = Split(
      requests,
      [&](const ClaimRequest& request) REQUIRES(tables_.mu) {
        return MayBePlain(request) && TakesRuns(tables_, request.executor);
      },
      [&](const ClaimRequest& request) REQUIRES(tables_.mu) {
        const RunEntry* found = tables_.FindRun(request.key);
        return found != nullptr &&
               IsPlain(PlainRow{.row = found->row, .readable = Readable(*found)}, request, now);
      });
  std::vector<ClaimReply> replies(requests.size());
  for (const size_t place : split.plain) {
    const ClaimRequest& request = requests[place];
    WriteClaim(tables_, *tables_.FindRun(request.key), request, now);
    replies[place] = {.verdict = ClaimVerdict::kAccepted,
                      .job_no = request.job_no,
                      .def_version = request.def_version};
  }
  SortForGroups(requests, &split.others);
  for (const size_t place : split.others) {
    replies[place] = ClaimOne(tables_, requests[place], now);
  }
  return replies;
}

void MemoryFiringStore::SortForGroups(const std::vector<ClaimRequest>& requests,
                                      std::vector<size_t>* places) {
  const bool grouped = std::any_of(places->begin(), places->end(),
                                   [&](size_t place) { return !requests[place].group.empty(); });
  if (!grouped) return;
  const auto order = [&](size_t place) REQUIRES(tables_.mu) {
    const RunEntry* run = tables_.FindRun(requests[place].key);
    return run == nullptr ? GroupPlace{.key = requests[place].key} : PlaceInGroup(run->row);
  };
  std::stable_sort(places->begin(), places->end(),
                   [&](size_t a, size_t b) REQUIRES(tables_.mu) { return order(a) < order(b); });
}

Result<std::vector<RunKey>> MemoryFiringStore::Skip(const std::vector<SkipItem>& items,
                                                    const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(items, fence, "skip"));
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  std::vector<RunKey> written;
  for (const SkipItem& item : items) {
    const RunEntry* found = tables_.FindRun(item.key);
    if (found == nullptr || !DecideSkip(found->row, item)) continue;
    WriteSkip(tables_, *found, item.reason, now, item.error);
    written.push_back(item.key);
  }
  return written;
}

Result<std::vector<RunEffect>> MemoryFiringStore::ApplyResults(
    const std::vector<ResultReport>& reports, const Fence& fence, WallTime now) {
  CARILLON_TRY(CheckBatch(reports, fence, "results"));
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  const PlainSplit split = Split(
      reports, [](const ResultReport& report) { return MayBePlain(report); },
      [&](const ResultReport& report) REQUIRES(tables_.mu) {
        const RunEntry* found = tables_.FindRun(report.key);
        if (found == nullptr) return false;
        const JobEntry& job = *tables_.FindJob(found->row.job_no);
        const bool slot = job.slots.contains(report.key);
        return IsPlain(
            PlainRow{.row = found->row, .readable = Readable(*found), .slot_taken = slot}, report);
      });
  std::vector<RunEffect> effects(reports.size());
  for (const size_t place : split.plain) {
    effects[place] = WritePlain(tables_, *tables_.FindRun(reports[place].key), reports[place]);
  }
  for (const size_t place : split.others) effects[place] = ApplyOne(reports[place], now);
  for (size_t i = 0; i < reports.size(); ++i) {
    const bool completed =
        effects[i].verdict == ResultVerdict::kApplied && effects[i].state == RunState::kCompleted;
    if (reports[i].result.saved && completed) tables_.saved.erase(reports[i].key);
  }
  return effects;
}

RunEffect MemoryFiringStore::ApplyOne(const ResultReport& report, WallTime now) {
  const RunEntry* found = tables_.FindRun(report.key);
  // A report that names another segment was checked against the wrong fence. A report that names
  // another job would be decided by the rules of that job.
  const bool astray = found != nullptr &&
                      (found->row.segment != report.segment || found->row.job_no != report.job_no);
  if (astray) found = nullptr;
  const JobEntry* job = found == nullptr ? nullptr : tables_.FindJob(found->row.job_no);
  const JobRow job_row = job == nullptr ? JobRow{} : JobOf(tables_, found->row);
  const ResultDecision decision = DecideResult(found == nullptr ? nullptr : &found->row,
                                               job == nullptr ? nullptr : &job_row, report, now);
  RunEffect effect{.key = report.key, .verdict = decision.verdict};
  if (decision.verdict == ResultVerdict::kApplied) {
    const bool held_slot = job->slots.contains(report.key);
    const bool held_group = found->row.group != GroupNo{};
    RunEntry changed = *found;
    // A run that was lost before others began to wait for its job has no flag yet.
    changed.row.flags |= EndFlags(changed.row.kind, changed.row.flags, job->has_dependents);
    CARILLON_CHECK(
        WriteChange(tables_, std::move(changed), decision.change, report.result, now).ok(),
        "a result reopens no final run");
    NoteWritten(tables_.FindRun(report.key)->row, &effect);
    effect.freed_slot = (held_slot && !job->slots.contains(report.key)) ||
                        (held_group && tables_.FindRun(report.key)->row.group == GroupNo{});
    effect.dead_letter =
        decision.change.dead_letter && LeavesDeadLetter(tables_.FindRun(report.key)->row);
    effect.given_back = decision.change.given_back;
  } else if (decision.verdict == ResultVerdict::kRecordedOnly && IsNews(*found, report)) {
    RunEntry entry = *found;
    RecordAttempt(entry, {.attempt = report.attempt,
                          .state = report.result.state,
                          .executor = report.executor,
                          .claimed = entry.row.claimed,
                          .result = report.result});
    tables_.PutRun(std::move(entry));
  }
  return effect;
}

Result<std::vector<RunEffect>> MemoryFiringStore::MarkLost(const std::vector<LostReport>& reports,
                                                           const Fence& fence, WallTime now) {
  return LoseBatch(tables_, reports, {Loss::kLeaseEnded, fence, now});
}

Result<std::vector<RunEffect>> MemoryFiringStore::GiveUp(const std::vector<LostReport>& reports,
                                                         const Fence& fence, WallTime now) {
  return LoseBatch(tables_, reports, {Loss::kGivenUp, fence, now});
}

Result<std::vector<RunEffect>> MemoryFiringStore::Presume(const std::vector<LostReport>& reports,
                                                          const Fence& fence, WallTime now) {
  return LoseBatch(tables_, reports, {Loss::kPresumed, fence, now});
}

Result<std::vector<JobVersionRecord>> MemoryFiringStore::LoadDefinitions(
    const std::vector<JobVersionKey>& keys) {
  MutexLock lock(tables_.mu);
  std::vector<JobVersionRecord> found;
  for (const JobVersionKey& key : keys) {
    if (tables_.FindJob(key.job_no) == nullptr) continue;
    const JobEntry* job = &tables_.OwnerOf(key.job_no);
    const auto version = job->versions.find(key.version);
    if (version == job->versions.end()) continue;
    JobVersionRecord record{
        .job_no = key.job_no, .version = key.version, .job_id = job->id, .definition = {}};
    record.readable = !job->unreadable.contains(key.version);
    if (record.readable) record.definition = version->second;
    const bool starts = key.version == job->version && !IsTaskJob(key.job_no) && !job->deleted;
    if (starts) record.schedule_ids = job->schedules;
    found.push_back(std::move(record));
  }
  return found;
}

Result<RunRequest> MemoryFiringStore::LoadRunRequest(const RunKey& key) {
  MutexLock lock(tables_.mu);
  const RunEntry* found = tables_.FindRun(key);
  if (found == nullptr) return {ErrorCode::kNotFound, "no run " + EncodeRunId(key)};
  return RunRequest{.parameters_json = found->parameters_json,
                    .trace_id = found->trace_id,
                    .trigger = found->trigger,
                    .rules = found->row.rules,
                    .node = found->node ? found->node->node : std::string()};
}

Result<std::map<RunKey, std::string>> MemoryFiringStore::LoadRunRules(
    const std::vector<RunKey>& keys) {
  MutexLock lock(tables_.mu);
  std::map<RunKey, std::string> found;
  for (const RunKey& key : keys) {
    const RunEntry* own = tables_.FindRun(OwnRunOf(key));
    if (own != nullptr && !own->row.rules.empty()) found[key] = own->row.rules;
  }
  return found;
}

}  // namespace carillon::memory
