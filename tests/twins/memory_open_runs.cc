#include "tests/twins/memory_open_runs.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "common/domain/workflow/node_key.h"

namespace carillon::memory {
namespace {

// Visits the elements of several ordered sets in one common order until `visit` returns false.
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

}  // namespace

DueSchedule ToDue(MemoryTables& tables, const ScheduleEntry& schedule) {
  const JobEntry& job = *tables.FindJob(schedule.job_no);
  // A planner needs the numbers of its calendars only, and a claim looks up its parameters.
  ScheduleSpec spec = schedule.spec;
  spec.calendar.clear();
  spec.blackout.clear();
  spec.parameters.clear();
  return {.schedule_id = schedule.id,
          .job_no = job.job_no,
          .segment = job.segment,
          .version = schedule.version,
          .job_version = job.version,
          .next_fire = schedule.next_fire,
          .spec = std::move(spec),
          .dst_gap = job.definition.dst_gap,
          .dst_repeat = job.definition.dst_repeat,
          .misfire = MisfireRulesOf(job.definition),
          .priority = job.definition.priority,
          .calendars = schedule.calendars,
          .calendar_version = schedule.calendar_version,
          .run_flags = FlagsOfSchedule(job.definition, job.has_dependents),
          .readable = schedule.readable};
}

std::vector<DueSchedule> DueSchedules(MemoryTables& tables, const std::vector<SegmentId>& segments,
                                      WallTime until, size_t limit) {
  std::vector<
      std::pair<MemoryTables::DueIndex::const_iterator, MemoryTables::DueIndex::const_iterator>>
      ranges;
  for (const SegmentId segment : segments) {
    if (!tables.HasSegment(segment)) continue;
    const MemoryTables::DueIndex& due = tables.due(segment);
    ranges.push_back({due.begin(), due.end()});
  }
  std::vector<DueSchedule> found;
  Merge<MemoryTables::DueIndex>(
      ranges, [&](const std::pair<WallTime, ScheduleId>& entry) REQUIRES(tables.mu) {
        if (entry.first > until || found.size() >= limit) return false;
        found.push_back(ToDue(tables, *tables.FindSchedule(entry.second)));
        return true;
      });
  return found;
}

PendingPage PendingRuns(MemoryTables& tables, const std::vector<SegmentId>& segments,
                        WallTime until, std::optional<std::pair<WallTime, RunKey>> after,
                        size_t limit) {
  std::vector<std::pair<MemoryTables::PendingIndex::const_iterator,
                        MemoryTables::PendingIndex::const_iterator>>
      ranges;
  for (const SegmentId segment : segments) {
    if (!tables.HasSegment(segment)) continue;
    const MemoryTables::PendingIndex& pending = tables.pending(segment);
    ranges.push_back({after ? pending.upper_bound(*after) : pending.begin(), pending.end()});
  }
  PendingPage page;
  std::optional<std::pair<WallTime, RunKey>> last;
  Merge<MemoryTables::PendingIndex>(
      ranges, [&](const std::pair<WallTime, RunKey>& entry) REQUIRES(tables.mu) {
        if (entry.first > until || !IsTime(entry.first)) return false;
        if (page.runs.size() >= limit) {
          page.next = last;
          return false;
        }
        page.runs.push_back(tables.FindRun(entry.second)->row);
        last = entry;
        return true;
      });
  return page;
}

JobPendingPage PendingRunsOfJob(MemoryTables& tables, const JobWindow& window,
                                std::optional<RunKey> after, size_t limit) {
  JobPendingPage page;
  const JobEntry* job = tables.FindJob(window.job_no);
  if (job == nullptr || limit == 0) return page;
  const RunKey first{.fire = window.from};
  auto at = after && *after >= first ? job->open.upper_bound(*after) : job->open.lower_bound(first);
  for (; at != job->open.end() && at->fire <= window.to; ++at) {
    const RunRow& row = tables.FindRun(*at)->row;
    if (row.state != RunState::kPending || !IsTime(row.due)) continue;
    if (page.runs.size() == limit) {
      page.next = page.runs.back().key;
      break;
    }
    page.runs.push_back(row);
  }
  return page;
}

RunningPage PageOf(MemoryTables& tables, RunIndex index, std::vector<SegmentId> segments,
                   std::optional<RunCursor> after, size_t limit) {
  std::sort(segments.begin(), segments.end());
  std::vector<std::pair<RunCursor, const RunRow*>> found;
  for (const SegmentId segment : segments) {
    if (!tables.HasSegment(segment) || (after && segment < after->segment)) continue;
    const size_t begin = found.size();
    for (const RunKey& key : (tables.*index)(segment)) {
      const RunRow& row = tables.FindRun(key)->row;
      if (IsRunningWorkflow(row)) continue;
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

OverdueReport Overdue(MemoryTables& tables, WallTime now) {
  OverdueReport report;
  std::map<JobId, UnplannedJob> unplanned;
  for (const SegmentRecord& record : tables.segments) {
    const MemoryTables::PendingIndex& pending = tables.pending(record.segment);
    for (const auto& [due, key] : pending) {
      if (!IsTime(due)) break;
      // The part of a broadcast may wait for its host for days.
      if (key.shard > 0 && !tables.FindRun(key)->row.pinned_executor.empty()) continue;
      report.oldest_pending_due = std::min(report.oldest_pending_due, due);
      break;
    }
    for (auto it = pending.begin(); it != pending.end() && it->first <= now; ++it) {
      if (report.pending_due >= kCountedMax) break;
      ++report.pending_due;
    }
    const MemoryTables::DueIndex& due = tables.due(record.segment);
    if (!due.empty()) {
      report.oldest_unplanned_fire = std::min(report.oldest_unplanned_fire, due.begin()->first);
    }
    for (const auto& [fire, schedule] : due) {
      if (fire >= now - kUnplannedShownAfter) break;
      const JobEntry& job = tables.jobs().at(tables.FindSchedule(schedule)->job_no);
      unplanned.try_emplace(job.id, UnplannedJob{job.id, job.definition.name, fire});
    }
  }
  report.unplanned_jobs = FirstUnplanned(unplanned);
  return report;
}

}  // namespace carillon::memory
