#include "tests/twins/memory_queue_store.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/failpoint.h"
#include "common/ports/store/firing_store.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

bool Contains(const std::vector<SegmentId>& segments, SegmentId segment) {
  return std::find(segments.begin(), segments.end(), segment) != segments.end();
}

}  // namespace

Result<std::vector<QueuedJob>> MemoryQueueStore::ScanQueues(const std::vector<SegmentId>& segments,
                                                            JobNo after, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<QueuedJob> found;
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (found.size() == limit) break;
    if (job_no <= after || job.queue.empty() || !Contains(segments, job.segment)) continue;
    const OverlapRules rules = OverlapRulesOf(job.definition);
    const bool waits = TakesSlots(rules.policy) && !EndsPrevious(rules.policy);
    if (waits && static_cast<int64_t>(job.active.size()) >= rules.max_running) continue;
    found.push_back({job_no, job.segment});
  }
  return found;
}

Result<AdmissionEffect> MemoryQueueStore::Admit(const QueuedJob& queued, const Fence& fence,
                                                WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  AdmissionEffect effect;
  JobEntry* job = tables_.FindJob(queued.job_no);
  if (job == nullptr || job->segment != queued.segment || job->deleted) return effect;
  std::vector<RunKey> queue;
  for (const auto& [key, entry] : job->queue) {
    if (queue.size() == kBatchRowsMax) break;
    queue.push_back(key);
  }
  const Admission admission = DecideAdmission(OverlapRulesOf(job->definition), queue,
                                              static_cast<int64_t>(job->active.size()));
  for (const RunKey& key : admission.replaced) {
    WriteSkip(tables_, *tables_.FindRun(key), reason::kReplaced, now);
    ++effect.replaced;
  }
  AdmitRuns(*job, admission, now, &effect);
  if (admission.holders) MakeRoomFor(*job, queue.back(), *admission.holders, now, &effect);
  return effect;
}

void MemoryQueueStore::AdmitRuns(JobEntry& job, const Admission& admission, WallTime now,
                                 AdmissionEffect* effect) {
  const bool reserve =
      TakesSlots(job.definition.overlap_policy) && !failpoint::Broken("admit.reserve");
  for (const RunKey& key : admission.admitted) {
    effect->waited.push_back(now - job.queue.at(key).since);
    RunEntry entry = *tables_.FindRun(key);
    entry.row.due = now;
    effect->admitted.push_back(entry.row);
    tables_.PutRun(std::move(entry));
    if (!reserve) continue;
    job.active.insert(key);
    job.slots.insert(key);
  }
}

void MemoryQueueStore::MakeRoomFor(JobEntry& job, const RunKey& newest, CancelMode mode,
                                   WallTime now, AdmissionEffect* effect) {
  for (const RunKey& key : std::set<RunKey>(job.active)) {
    RunEntry entry = *tables_.FindRun(key);
    const MakeRoom fate = DecideMakeRoom(entry.row, newest);
    if (fate == MakeRoom::kKeep) continue;
    if (fate == MakeRoom::kSkip) {
      WriteSkip(tables_, std::move(entry), reason::kReplaced, now);
      ++effect->replaced;
      continue;
    }
    const CancelEffect cancel = DecideCancel(entry.row, mode, Overlap::kUnconfirmed);
    if (cancel == CancelEffect::kNothing || cancel == CancelEffect::kAskedHarder) continue;
    const std::string sentence = ReplacedSentence(OverlapRulesOf(job.definition), newest);
    entry.result.error = sentence;
    if (cancel == CancelEffect::kRequested) {
      if (entry.row.cancel_requested == mode) continue;
      entry.row.cancel_requested = mode;
      ++effect->cancels_requested;
    } else {
      entry.result.reason = std::string(CancelReason(entry.row));
      entry.result.ended = now;
      entry.result.state = RunState::kCancelled;
      entry.row.state = RunState::kCancelled;
      entry.row.cancel_requested.reset();
      ++effect->cancelled;
    }
    tables_.PutRun(std::move(entry));
    const EndedRuns before = tables_.ended;  // no user's request
    CancelParts(tables_, key, {.now = now, .cancel_mode = mode}, sentence);
    tables_.ended = before;
  }
}

Result<GroupScan> MemoryQueueStore::ScanGroups(const std::vector<SegmentId>& segments,
                                               GroupNo after, size_t limit, WallTime now) {
  MutexLock lock(tables_.mu);
  GroupScan page;
  if (segments.empty() || limit == 0) return page;
  std::map<GroupNo, QueuedGroup> found;
  for (const auto& [name, group] : tables_.groups) {
    if (group.group_no <= after || group.queue.empty()) continue;
    const auto cool = NextLook(group, now);
    if (cool) page.next_cool = std::min(page.next_cool.value_or(*cool), *cool);
    std::set<SegmentId> own;
    for (const RunKey& key : FirstOf(group, segments, now))
      own.insert(tables_.FindRun(key)->row.segment);
    if (!own.empty()) found[group.group_no] = {group.group_no, {own.begin(), own.end()}};
  }
  for (auto& [group_no, group] : found) {
    if (page.groups.size() == limit) break;
    page.groups.push_back(std::move(group));
  }
  return page;
}

std::optional<WallTime> MemoryQueueStore::NextLook(const GroupEntry& group, WallTime now) {
  const Duration ahead = group.Ahead(now);
  std::optional<WallTime> next;
  const auto note = [&](size_t slot, WallTime after) {
    const WallTime cool = CoolAt(group.per, group.given[slot], now);
    if (cool > after) next = std::min(next.value_or(cool), cool);
  };
  std::set<size_t> taken;
  for (const auto& [key, slot] : group.holders) {
    taken.insert(slot);
    if (tables_.FindRun(key)->row.state != RunState::kPending) note(slot, now);
  }
  for (size_t slot = 0; slot < group.given.size(); ++slot) {
    if (!taken.contains(slot)) note(slot, now + ahead);
  }
  return next;
}

std::vector<RunKey> MemoryQueueStore::FirstOf(const GroupEntry& group,
                                              const std::vector<SegmentId>& segments,
                                              WallTime now) {
  const int64_t used = group.Used(now, group.Ahead(now));
  const int64_t free =
      std::min<int64_t>(FreeInGroup(group.limit, used), static_cast<int64_t>(kBatchRowsMax));
  std::vector<GroupWait> first;
  for (const auto& [place, entry] : group.queue) {
    if (static_cast<int64_t>(first.size()) == free) break;
    first.push_back({place, tables_.FindRun(place.key)->row.segment});
  }
  return DecideGroupAdmission(first, segments, free);
}

Result<AdmissionEffect> MemoryQueueStore::AdmitGroup(const QueuedGroup& queued, const Fence& fence,
                                                     WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  AdmissionEffect effect;
  GroupEntry* const group = tables_.FindGroup(queued.group_no);
  if (group == nullptr) return effect;
  std::vector<SegmentId> own;
  for (const FencedSegment& held : fence) own.push_back(held.segment);
  const Duration ahead = group->Ahead(now);
  for (const RunKey& key : FirstOf(*group, own, now)) {
    RunEntry entry = *tables_.FindRun(key);
    effect.waited.push_back(now - group->queue.at(PlaceInGroup(entry.row)).since);
    entry.row.due = DueInGroup(group->Reserve(key, now, ahead), now);
    entry.row.group = group->group_no;
    effect.admitted.push_back(entry.row);
    tables_.PutRun(std::move(entry));
  }
  return effect;
}

bool MemoryQueueStore::IsUnused(const RunRow& row, WallTime now) {
  return row.state == RunState::kPending && row.due <= now - kGroupGrantKept;
}

Result<std::vector<UnusedSlot>> MemoryQueueStore::ScanUnusedSlots(
    const std::vector<SegmentId>& segments, WallTime now, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<UnusedSlot> unused;
  for (const auto& [name, group] : tables_.groups) {
    for (const auto& [key, slot] : group.holders) {
      const RunRow& row = tables_.FindRun(key)->row;
      if (unused.size() == limit) return unused;
      if (!IsUnused(row, now) || !Contains(segments, row.segment)) continue;
      unused.push_back({.group_no = group.group_no, .key = key, .segment = row.segment});
    }
  }
  return unused;
}

Result<size_t> MemoryQueueStore::ReclaimSlots(const std::vector<UnusedSlot>& slots,
                                              const Fence& fence, WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  size_t freed = 0;
  for (const UnusedSlot& slot : slots) {
    const RunEntry* found = tables_.FindRun(slot.key);
    if (found == nullptr || found->row.group != slot.group_no || !IsUnused(found->row, now)) {
      continue;
    }
    const bool own = std::any_of(fence.begin(), fence.end(), [&](const FencedSegment& held) {
      return held.segment == found->row.segment;
    });
    if (!own) continue;
    RunEntry entry = *found;
    entry.row.group = {};
    tables_.PutRun(std::move(entry));
    ++freed;
  }
  return freed;
}

Result<std::vector<SkipItem>> MemoryQueueStore::ScanExpired(const std::vector<SegmentId>& segments,
                                                            WallTime now, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<SkipItem> items;
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (!Contains(segments, job.segment)) continue;
    for (const auto& [key, entry] : job.queue) {
      if (items.size() == limit) return items;
      if (entry.expires > now) continue;
      const RunRow& row = tables_.FindRun(key)->row;
      items.push_back({.key = key,
                       .segment = row.segment,
                       .job_no = row.job_no,
                       .attempt = row.attempt,
                       .def_version = row.def_version,
                       .reason = reason::kQueueTimeout,
                       .due = kQueued});
    }
  }
  for (const auto& [name, group] : tables_.groups) {
    for (const auto& [place, entry] : group.queue) {
      if (items.size() == limit) return items;
      const RunRow& row = tables_.FindRun(place.key)->row;
      if (entry.expires > now || !Contains(segments, row.segment)) continue;
      items.push_back({.key = row.key,
                       .segment = row.segment,
                       .job_no = row.job_no,
                       .attempt = row.attempt,
                       .def_version = row.def_version,
                       .reason = reason::kQueueTimeout,
                       .due = kQueued});
    }
  }
  return items;
}

Result<int64_t> MemoryQueueStore::CountQueued() {
  MutexLock lock(tables_.mu);
  auto count = static_cast<int64_t>(tables_.group_waits());
  for (const auto& [job_no, job] : tables_.jobs()) {
    count += static_cast<int64_t>(job.queue.size());
  }
  return std::min(count, kCountedMax);
}

Result<JobQueue> MemoryQueueStore::ReadQueue(const JobId& id, size_t limit) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(const JobEntry* job, tables_.FindLiveJob(id));
  JobQueue queue{.length = static_cast<int64_t>(job->queue.size())};
  if (TakesSlots(job->definition.overlap_policy)) {
    for (const RunKey& key : job->active) queue.holders.push_back(tables_.FindRun(key)->row);
  }
  for (const auto& [key, entry] : job->queue) {
    if (queue.queued.size() == limit) break;
    queue.queued.push_back(tables_.FindRun(key)->row);
  }
  return queue;
}

Result<std::optional<QueuePlace>> MemoryQueueStore::PlaceOf(const RunKey& key) {
  MutexLock lock(tables_.mu);
  const RunEntry* run = tables_.FindRun(key);
  if (run == nullptr) return std::optional<QueuePlace>{};
  for (const auto& [name, group] : tables_.groups) {
    const auto place = group.queue.find(PlaceInGroup(run->row));
    if (place == group.queue.end()) continue;
    return std::optional<QueuePlace>(
        QueuePlace{.position = std::distance(group.queue.begin(), place) + 1,
                   .length = static_cast<int64_t>(group.queue.size()),
                   .since = place->second.since,
                   .group = name});
  }
  const auto& queue = tables_.FindJob(run->row.job_no)->queue;
  const auto found = queue.find(key);
  if (found == queue.end()) return std::optional<QueuePlace>{};
  return std::optional<QueuePlace>(QueuePlace{.position = std::distance(queue.begin(), found) + 1,
                                              .length = static_cast<int64_t>(queue.size()),
                                              .since = found->second.since});
}

}  // namespace carillon::memory
