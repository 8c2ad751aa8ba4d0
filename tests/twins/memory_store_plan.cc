// Steps 1 and 2: due schedules, plans and open runs.
#include <algorithm>
#include <functional>
#include <queue>

#include "tests/twins/memory_store.h"

namespace carillon::memory {
namespace {

// Walks several ordered sets as one, least element first, until `visit` returns false.
template <typename Set>
void Merge(const std::vector<std::pair<typename Set::const_iterator, typename Set::const_iterator>>&
               ranges,
           const std::function<bool(const typename Set::value_type&)>& visit) {
  using Range = std::pair<typename Set::const_iterator, typename Set::const_iterator>;
  const auto later = [](const Range& a, const Range& b) { return *b.first < *a.first; };
  std::priority_queue<Range, std::vector<Range>, decltype(later)> heads(later);
  for (const Range& range : ranges) {
    if (range.first != range.second) heads.push(range);
  }
  while (!heads.empty()) {
    Range head = heads.top();
    heads.pop();
    if (!visit(*head.first)) return;
    if (++head.first != head.second) heads.push(head);
  }
}

bool FenceCovers(const Fence& fence, SegmentId segment) {
  return std::any_of(fence.begin(), fence.end(),
                     [segment](const FencedSegment& held) { return held.segment == segment; });
}

using RunIndex = const std::set<RunKey>& (Tables::*)(SegmentId) const;

RunningPage PageOf(Tables& tables, RunIndex index, std::vector<SegmentId> segments,
                   std::optional<RunCursor> after, size_t limit) {
  std::sort(segments.begin(), segments.end());
  std::vector<std::pair<RunCursor, const RunRow*>> found;
  for (const SegmentId segment : segments) {
    if (!tables.HasSegment(segment) || (after && segment < after->segment)) continue;
    const size_t begin = found.size();
    for (const RunKey& key : (tables.*index)(segment)) {
      const RunRow& row = tables.FindRun(key)->row;
      const RunCursor place{segment, row.due, key};
      if (!after || *after < place) found.emplace_back(place, &row);
    }
    std::sort(found.begin() + static_cast<long>(begin), found.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    if (found.size() > limit) break;
  }
  RunningPage page;
  for (const auto& [place, row] : found) {
    if (page.runs.size() == limit) {
      page.next = after;
      if (!page.runs.empty()) {
        const RunRow& last = page.runs.back();
        page.next = RunCursor{last.segment, last.due, last.key};
      }
      break;
    }
    page.runs.push_back(*row);
  }
  return page;
}

}  // namespace

Result<std::vector<DueSchedule>> MemoryStore::ScanDue(const std::vector<SegmentId>& segments,
                                                      WallTime until, size_t limit) {
  MutexLock lock(mu_);
  std::vector<std::pair<Tables::DueIndex::const_iterator, Tables::DueIndex::const_iterator>> ranges;
  for (const SegmentId segment : segments) {
    if (!tables_.HasSegment(segment)) continue;
    const Tables::DueIndex& due = tables_.due(segment);
    ranges.push_back({due.begin(), due.end()});
  }
  std::vector<DueSchedule> found;
  Merge<Tables::DueIndex>(ranges, [&](const std::pair<WallTime, ScheduleId>& entry) REQUIRES(mu_) {
    if (entry.first > until || found.size() >= limit) return false;
    const ScheduleEntry& schedule = *tables_.FindSchedule(entry.second);
    const JobEntry& job = *tables_.FindJob(schedule.job_no);
    found.push_back({.schedule_id = schedule.id,
                     .job_no = job.job_no,
                     .segment = job.segment,
                     .version = schedule.version,
                     .job_version = job.version,
                     .next_fire = schedule.next_fire,
                     .spec = schedule.spec,
                     .dst_gap = job.definition.dst_gap,
                     .dst_repeat = job.definition.dst_repeat,
                     .misfire = MisfireRulesOf(job.definition),
                     .priority = job.definition.priority,
                     .readable = schedule.readable});
    return true;
  });
  return found;
}

Status MemoryStore::CheckAdvances(const PlanBatch& batch) const {
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
    moved[advance.schedule_id] = advance.next_fire;
  }
  return {};
}

Status MemoryStore::CheckNewRuns(const PlanBatch& batch) {
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

Status MemoryStore::Plan(const PlanBatch& batch, const Fence& fence, WallTime now) {
  if (std::max({batch.runs.size(), batch.advances.size(), batch.gaps.size()}) > kBatchRowsMax) {
    return {ErrorCode::kExhausted, "plan: more than kBatchRowsMax rows"};
  }
  for (const PlannedRun& run : batch.runs) {
    if (!FenceCovers(fence, run.segment)) return {ErrorCode::kInvalid, "plan: run outside fence"};
  }
  MutexLock lock(mu_);
  CARILLON_TRY(CheckFence(fence));
  CARILLON_TRY(CheckAdvances(batch));
  CARILLON_TRY(CheckNewRuns(batch));
  for (const ScheduleAdvance& advance : batch.advances) {
    ScheduleEntry schedule = *tables_.FindSchedule(advance.schedule_id);
    schedule.next_fire = advance.next_fire;
    tables_.PutSchedule(std::move(schedule));
  }
  for (const PlannedRun& run : batch.runs) {
    tables_.PutRun({.row = {.key = run.key,
                            .job_no = run.job_no,
                            .segment = run.segment,
                            .kind = run.kind,
                            .due = run.due,
                            .priority = run.priority,
                            .def_version = run.def_version},
                    .planned = now});
  }
  for (const PlannedGap& gap : batch.gaps) {
    AddGap(gap.schedule_id, gap.job_no, gap.range);
    AddNotice({.kind = NoticeKind::kMissed,
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

Result<PendingPage> MemoryStore::ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                             std::optional<std::pair<WallTime, RunKey>> after,
                                             size_t limit) {
  MutexLock lock(mu_);
  std::vector<std::pair<Tables::PendingIndex::const_iterator, Tables::PendingIndex::const_iterator>>
      ranges;
  for (const SegmentId segment : segments) {
    if (!tables_.HasSegment(segment)) continue;
    const Tables::PendingIndex& pending = tables_.pending(segment);
    ranges.push_back({after ? pending.upper_bound(*after) : pending.begin(), pending.end()});
  }
  PendingPage page;
  std::optional<std::pair<WallTime, RunKey>> last;
  Merge<Tables::PendingIndex>(ranges, [&](const std::pair<WallTime, RunKey>& entry) REQUIRES(mu_) {
    if (entry.first > until || entry.first == kNever) return false;
    if (page.runs.size() >= limit) {
      page.next = last;
      return false;
    }
    page.runs.push_back(tables_.FindRun(entry.second)->row);
    last = entry;
    return true;
  });
  return page;
}

Result<JobPendingPage> MemoryStore::ScanPendingOfJob(const JobWindow& window,
                                                     std::optional<RunKey> after, size_t limit) {
  MutexLock lock(mu_);
  JobPendingPage page;
  const JobEntry* job = tables_.FindJob(window.job_no);
  if (job == nullptr || limit == 0) return page;
  const RunKey first{.fire = window.from};
  auto at = after && *after >= first ? job->open.upper_bound(*after) : job->open.lower_bound(first);
  for (; at != job->open.end() && at->fire <= window.to; ++at) {
    const RunRow& row = tables_.FindRun(*at)->row;
    if (row.state != RunState::kPending || row.due == kNever) continue;
    if (page.runs.size() == limit) {
      page.next = page.runs.back().key;
      break;
    }
    page.runs.push_back(row);
  }
  return page;
}

Result<RunningPage> MemoryStore::ScanRunning(const std::vector<SegmentId>& segments,
                                             std::optional<RunCursor> after, size_t limit) {
  MutexLock lock(mu_);
  return PageOf(tables_, &Tables::running, segments, after, limit);
}

Result<RunningPage> MemoryStore::ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                    std::optional<RunCursor> after, size_t limit) {
  MutexLock lock(mu_);
  return PageOf(tables_, &Tables::cancels, segments, after, limit);
}

Result<OverdueReport> MemoryStore::ReadOverdue(WallTime now) {
  MutexLock lock(mu_);
  OverdueReport report;
  for (const SegmentRecord& record : tables_.segments) {
    const Tables::PendingIndex& pending = tables_.pending(record.segment);
    if (!pending.empty()) {
      report.oldest_pending_due = std::min(report.oldest_pending_due, pending.begin()->first);
    }
    for (auto it = pending.begin(); it != pending.end() && it->first <= now; ++it) {
      if (report.pending_due >= kCountedMax) break;
      ++report.pending_due;
    }
    const Tables::DueIndex& due = tables_.due(record.segment);
    if (!due.empty()) {
      report.oldest_unplanned_fire = std::min(report.oldest_unplanned_fire, due.begin()->first);
    }
  }
  return report;
}

}  // namespace carillon::memory
