#include "tests/twins/memory_housekeeping.h"

#include <map>
#include <set>
#include <vector>

#include "tests/twins/memory_parts.h"
#include "tests/twins/memory_workflow_runs.h"

namespace carillon::memory {
namespace {

constexpr Duration kAuditKept = 24h * 365;

bool IsFinished(const RunRow& row) {
  return IsFinal(row.state) && row.state != RunState::kSkipped && !IsPart(row.key);
}

}  // namespace

void MemoryHousekeeping::KeepLast(const std::vector<RunKey>& dropped, const Retention& retention) {
  for (const RunKey& key : dropped) {
    if (retention.keep_last == 0) break;
    const RunEntry& run = *tables_.FindRun(key);
    if (!IsFinished(run.row)) continue;
    RunEntry& kept = tables_.kept[key] = run;
    kept.attempts.clear();
  }
  if (tables_.kept.empty()) return;
  std::map<JobNo, std::set<RunKey>> newest;
  for (const auto& [key, run] : tables_.kept) newest[run.row.job_no].insert(key);
  for (const auto& [key, run] : tables_.runs()) {
    const auto job = newest.find(run.row.job_no);
    if (job != newest.end() && IsFinished(run.row)) job->second.insert(key);
  }
  for (auto& [job_no, keys] : newest) {
    const JobEntry& job = *tables_.FindJob(job_no);
    const Duration own = 24h * job.definition.retention_days;
    const bool keeps = !job.deleted && (own == Duration{} || own >= retention.runs);
    const auto count = static_cast<size_t>(keeps ? retention.keep_last : 0);
    while (keys.size() > count) keys.erase(keys.begin());
  }
  std::erase_if(tables_.kept, [&](const auto& entry) {
    return !newest.at(entry.second.row.job_no).contains(entry.first);
  });
}

Result<Upkeep> MemoryHousekeeping::Maintain(WallTime now, const Retention& limits) {
  const Duration retention = limits.runs;
  MutexLock lock(tables_.mu);
  std::erase_if(tables_.requests,
                [now](const auto& entry) { return now - entry.second.begun >= kRequestKeyKept; });
  const Duration day = 24h;
  const auto day_of = [day](WallTime time) { return time.time_since_epoch() / day; };
  const auto first_kept = day_of(now - retention);
  std::set<int64_t> days_open;
  std::vector<RunKey> old;
  for (const auto& [key, entry] : tables_.runs()) {
    if (day_of(key.fire) >= first_kept) break;
    old.push_back(key);
    if (!IsFinal(entry.row.state)) days_open.insert(day_of(key.fire));
  }
  std::erase_if(old, [&](const RunKey& key) { return days_open.contains(day_of(key.fire)); });
  KeepLast(old, limits);
  for (const RunKey& key : old) tables_.EraseRun(key);
  std::erase_if(tables_.logs, [&](const auto& log) {
    const auto day_of_run = day_of(log.first.first.fire);
    return day_of_run < first_kept && !days_open.contains(day_of_run);
  });
  std::erase_if(tables_.gaps,
                [&](const auto& gap) { return day_of(gap.second.range.to) < first_kept; });
  std::erase_if(tables_.audit,
                [&](const auto& record) { return record.second.at < now - kAuditKept; });
  std::erase_if(tables_.refreshes,
                [now](const auto& entry) { return entry.second.record.expires <= now; });
  std::erase_if(tables_.bulk_actions, [now](const auto& entry) {
    const BulkAction& action = entry.second.action;
    return HasEnded(action) && action.ended < now - kBulkKept;
  });
  const WallTime before = now - retention;
  std::erase_if(tables_.backfills, [&](const auto& entry) {
    return HasEnded(entry.second) && entry.second.ended < before;
  });
  std::erase_if(tables_.dead_letters,
                [&](const auto& letter) { return letter.second.created < before; });
  auto& notice_keys = tables_.notice_keys;
  std::erase_if(tables_.notices, [&](const auto& entry) {
    const Notice& notice = entry.second.notice;
    const bool gone = !entry.second.open && notice.created < before;
    if (gone) notice_keys.erase(NoticeKeyOf(notice));
    return gone;
  });
  std::erase_if(tables_.deliveries, [&](const auto& entry) {
    const Delivery& delivery = entry.second.delivery;
    return delivery.state != DeliveryState::kPending && delivery.created < before;
  });
  std::erase_if(tables_.notice_memories, [&](const auto& entry) {
    const WallTime told = entry.second.memory.told;
    return told < (entry.second.watched ? now - kAuditKept : before);
  });
  std::erase_if(tables_.executors, [&](const auto& entry) {
    const ExecutorRecord& executor = entry.second;
    const bool gone =
        executor.state == ExecutorState::kLost || executor.state == ExecutorState::kOffline;
    return gone && executor.last_heartbeat < before && executor.enabled && !executor.draining;
  });
  std::erase_if(tables_.events,
                [now](const auto& event) { return event.second.accepted < now - kEventKept; });
  DropCalendarVersions(before);
  DropShortLived(now, retention);
  DropWorkflowRuns();
  std::set<JobVersionKey> graphs;  // workflow runs may be run again
  for (const auto& [no, workflow] : tables_.workflow_runs) {
    graphs.insert({workflow.job_no, workflow.def_version});
  }
  for (const auto& [id, job_no] : tables_.job_ids()) {
    JobEntry& job = *tables_.FindJob(job_no);
    std::erase_if(job.versions, [&](const auto& entry) {
      const int64_t version = entry.first;
      if (graphs.contains({job.job_no, version})) return false;
      const auto next = job.made.find(version + 1);
      return version <= job.version - kJobVersionsKept && next != job.made.end() &&
             next->second < before;
    });
  }
  return Upkeep::kDone;
}

void MemoryHousekeeping::DropCalendarVersions(WallTime before) {
  std::vector<CalendarChange> changes;
  for (const auto& [version, entry] : tables_.calendars) {
    changes.push_back({entry.number, version, entry.effective});
  }
  std::set<CalendarUse> uses;
  for (const auto& [job_no, job] : tables_.jobs()) {
    for (const ScheduleId id : job.schedules) {
      const ScheduleEntry& schedule = *tables_.FindSchedule(id);
      for (const CalendarNo number : {schedule.calendars.calendar, schedule.calendars.blackout}) {
        uses.insert({number, schedule.calendar_version});
      }
    }
  }
  for (const int64_t version : UnusedVersions(changes, uses, before)) {
    tables_.calendars.erase(version);
  }
}

void MemoryHousekeeping::DropShortLived(WallTime now, Duration retention) {
  std::set<RunKey> gone;
  for (const auto& [key, entry] : tables_.runs()) {
    if (entry.node || IsPart(key)) continue;  // it goes with its workflow run, or its fire
    const JobEntry* job = tables_.FindJob(entry.row.job_no);
    const Duration kept = job == nullptr ? Duration{} : 24h * job->definition.retention_days;
    if (kept <= Duration{} || kept >= retention || !IsFinal(entry.row.state)) continue;
    if (entry.result.ended < now - kept) AddWithNodes(key, gone);
  }
  for (const RunKey& key : gone) tables_.EraseRun(key);
  std::erase_if(tables_.logs, [&](const auto& log) { return gone.contains(log.first.first); });
  std::erase_if(tables_.dead_letters,
                [&](const auto& letter) { return gone.contains(letter.second.key); });
}

void MemoryHousekeeping::AddWithNodes(const RunKey& key, std::set<RunKey>& gone) {
  gone.insert(key);
  for (const RunKey& part : PartsOf(tables_, key)) gone.insert(part);
  for (const auto& [no, workflow] : tables_.workflow_runs) {
    if (workflow.own != key) continue;
    for (const RunKey& node : NodeKeysOf(tables_, workflow)) AddWithNodes(node, gone);
  }
}

void MemoryHousekeeping::DropWorkflowRuns() {
  std::erase_if(tables_.workflow_runs, [&](const auto& entry) REQUIRES(tables_.mu) {
    if (tables_.FindRun(entry.second.own) != nullptr) return false;
    tables_.workflow_numbers.erase(entry.second.own);
    return true;
  });
}

}  // namespace carillon::memory
