#include "tests/twins/memory_notice_store.h"

#include <algorithm>

#include "tests/twins/memory_counts.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

template <typename T>
bool IsIn(const std::vector<T>& list, const T& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

Delivery WithoutMessage(const Delivery& delivery) {
  Delivery shown = delivery;
  shown.message.clear();
  return shown;
}

// A success of the failed run itself also counts as a recovery, no matter when it was reported.
std::optional<Recovery> FindRecovery(const MemoryTables& tables, JobNo job_no,
                                     const NoticeMemoryEntry& memory, WallTime now)
    REQUIRES(tables.mu) {
  const std::map<RunKey, RunEntry>& runs = tables.runs();
  for (auto it = runs.lower_bound({memory.failed_fire, {}, 0}); it != runs.end(); ++it) {
    const RunEntry& run = it->second;
    if (it->first.fire > now) break;
    if (IsPart(it->first) || run.row.job_no != job_no) continue;
    if (run.row.state != RunState::kCompleted) continue;
    const bool since = run.result.ended > memory.failed || run.row.key.fire == memory.failed_fire;
    if (!since) continue;
    return Recovery{.segment = memory.segment,
                    .job_no = job_no,
                    .key = run.row.key,
                    .attempt = run.row.attempt};
  }
  return std::nullopt;
}

// Stores a decision. A failure notice that is sent starts the watch for a success. A failure notice
// that is held back moves the time from which a success counts.
void Remember(MemoryTables& tables, const NoticeDecision& decision, WallTime now)
    REQUIRES(tables.mu) {
  const Notice& notice = decision.notice;
  const bool failed = notice.kind == NoticeKind::kFailed;
  const auto place = std::make_pair(MemoryOf(decision), notice.kind);
  if (decision.verdict == NoticeVerdict::kHoldBack) {
    const auto found = tables.notice_memories.find(place);
    if (found == tables.notice_memories.end()) return;
    ++found->second.memory.held_back;
    if (!failed) return;
    found->second.failed_fire = std::max(found->second.failed_fire, notice.key.fire);
    found->second.failed = std::max(found->second.failed, notice.created);
    return;
  }
  NoticeMemoryEntry& memory = tables.notice_memories[place];
  memory = {.memory = {.told = now}, .segment = notice.segment, .watched = failed};
  if (!failed) return;
  memory.failed_fire = notice.key.fire;
  memory.failed = notice.created;
}

}  // namespace

OpenNotice MemoryNoticeStore::ToOpen(const Notice& notice) {
  const JobEntry& job = *tables_.FindJob(notice.job_no);
  OpenNotice open{.notice = notice, .job_id = job.id, .job_name = job.definition.name};
  if (IsReadable(job)) open.rules = job.definition.notify;
  const bool shared = SharesMemory(notice, open.rules);
  const auto memory = tables_.notice_memories.find({shared ? JobNo{} : notice.job_no, notice.kind});
  if (memory != tables_.notice_memories.end()) open.memory = memory->second.memory;
  return open;
}

Result<std::vector<OpenNotice>> MemoryNoticeStore::ScanNotices(
    const std::vector<SegmentId>& segments, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<OpenNotice> open;
  for (const auto& [id, entry] : tables_.notices) {
    if (open.size() == limit) break;
    if (entry.open && IsIn(segments, entry.notice.segment)) open.push_back(ToOpen(entry.notice));
  }
  return open;
}

Result<std::optional<RunDetail>> MemoryNoticeStore::FindRun(const Notice& notice) {
  MutexLock lock(tables_.mu);
  const RunEntry* run = tables_.FindRun(notice.key);
  if (run == nullptr || notice.kind == NoticeKind::kMissed) return std::optional<RunDetail>();
  return std::optional(ToDetail(tables_, *run, true));
}

Status MemoryNoticeStore::DecideNotices(const std::vector<NoticeDecision>& decisions,
                                        const Fence& fence, WallTime now) {
  MutexLock lock(tables_.mu);
  if (decisions.empty()) return {};
  CARILLON_TRY(tables_.CheckFence(fence));
  for (const NoticeDecision& decision : decisions) {
    const auto found = tables_.notices.find(decision.notice.id);
    if (found != tables_.notices.end() && found->second.open) continue;
    return {ErrorCode::kConflict,
            "notice " + std::to_string(decision.notice.id) + " was decided about meanwhile"};
  }
  for (const NoticeDecision& decision : decisions) {
    if (decision.verdict == NoticeVerdict::kDrop) {
      tables_.notice_keys.erase(NoticeKeyOf(decision.notice));
      tables_.notices.erase(decision.notice.id);
      continue;
    }
    const Notice& notice = decision.notice;
    tables_.notices.at(notice.id).open = false;
    for (const NewDelivery& made : decision.deliveries) {
      const uint64_t id = ++tables_.last_delivery_id;
      tables_.deliveries[id] = {.delivery = {.id = id,
                                             .notice_id = notice.id,
                                             .segment = notice.segment,
                                             .channel = made.channel,
                                             .kind = notice.kind,
                                             .job_id = tables_.FindJob(notice.job_no)->id,
                                             .key = notice.key,
                                             .created = now,
                                             .asked = now,
                                             .due = now,
                                             .recipients = made.recipients,
                                             .message = made.message},
                                .job_no = notice.job_no};
    }
    Remember(tables_, decision, now);
  }
  return {};
}

Status MemoryNoticeStore::AddNotices(const std::vector<Notice>& notices, const Fence& fence) {
  MutexLock lock(tables_.mu);
  if (notices.empty()) return {};
  CARILLON_TRY(tables_.CheckFence(fence));
  for (const Notice& notice : notices) {
    AddNotice(tables_, notice);
    if (notice.kind != NoticeKind::kRecovered) continue;
    const auto memory = tables_.notice_memories.find({notice.job_no, NoticeKind::kFailed});
    if (memory == tables_.notice_memories.end()) continue;
    memory->second.watched = false;
    memory->second.memory.held_back = 0;
    memory->second.memory.recovered = true;
  }
  return {};
}

Result<RecoveryPage> MemoryNoticeStore::ScanRecoveries(const std::vector<SegmentId>& segments,
                                                       std::optional<JobNo> after, WallTime now,
                                                       size_t limit) {
  MutexLock lock(tables_.mu);
  RecoveryPage page;
  size_t looked_at = 0;
  for (const auto& [place, memory] : tables_.notice_memories) {
    if (!memory.watched || !IsIn(segments, memory.segment)) continue;
    if (after && place.first <= *after) continue;
    if (const auto found = FindRecovery(tables_, place.first, memory, now))
      page.recoveries.push_back(*found);
    if (++looked_at < limit) continue;
    page.next = place.first;
    break;
  }
  return page;
}

Result<std::vector<Delivery>> MemoryNoticeStore::ScanDeliveries(
    const std::vector<SegmentId>& segments, const std::vector<DeliveryChannel>& channels,
    WallTime now, size_t limit) {
  MutexLock lock(tables_.mu);
  std::vector<Delivery> due;
  for (const auto& [id, entry] : tables_.deliveries) {
    const Delivery& delivery = entry.delivery;
    if (delivery.state != DeliveryState::kPending || delivery.due > now) continue;
    if (!IsIn(segments, delivery.segment) || !IsIn(channels, delivery.channel)) continue;
    due.push_back(delivery);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const Delivery& a, const Delivery& b) { return a.due < b.due; });
  if (due.size() > limit) due.resize(limit);
  return due;
}

Status MemoryNoticeStore::RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence,
                                         WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_TRY(tables_.CheckFence(fence));
  const auto found = tables_.deliveries.find(outcome.id);
  if (found == tables_.deliveries.end()) return {};
  Delivery& delivery = found->second.delivery;
  if (delivery.state != DeliveryState::kPending || delivery.asked != outcome.asked) return {};
  delivery.state = outcome.state;
  delivery.attempts = outcome.attempts;
  delivery.due = outcome.due;
  delivery.ended = outcome.state == DeliveryState::kPending ? WallTime{} : now;
  delivery.status = outcome.status;
  delivery.error = outcome.error;
  return {};
}

Result<DeliveryBacklog> MemoryNoticeStore::ReadBacklog(const std::vector<SegmentId>& segments) {
  MutexLock lock(tables_.mu);
  DeliveryBacklog backlog;
  for (const auto& [id, entry] : tables_.deliveries) {
    const Delivery& delivery = entry.delivery;
    if (delivery.state != DeliveryState::kPending || !IsIn(segments, delivery.segment)) continue;
    ++backlog.pending;
    backlog.oldest = std::min(backlog.oldest, delivery.asked);
  }
  return backlog;
}

Result<std::vector<Delivery>> MemoryNoticeStore::ListDeliveries(const DeliveryFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<Delivery> page;
  auto it = tables_.deliveries.lower_bound(filter.before_id);
  while (it != tables_.deliveries.begin() && page.size() < filter.limit) {
    --it;
    const Delivery& delivery = it->second.delivery;
    const bool wanted = (!filter.state || delivery.state == *filter.state) &&
                        (!filter.kind || delivery.kind == *filter.kind) &&
                        (!filter.job_id || delivery.job_id == *filter.job_id);
    if (wanted) page.push_back(WithoutMessage(delivery));
  }
  return page;
}

Result<Delivery> MemoryNoticeStore::ResendDelivery(uint64_t id, WallTime now) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.deliveries.find(id);
  if (found == tables_.deliveries.end()) {
    return {ErrorCode::kNotFound, "no delivery " + std::to_string(id)};
  }
  Delivery& delivery = found->second.delivery;
  delivery.state = DeliveryState::kPending;
  delivery.attempts = 0;
  delivery.asked = now;
  delivery.due = now;
  delivery.ended = WallTime{};
  return WithoutMessage(delivery);
}

Result<BoundedCount> MemoryNoticeStore::CountDeliveries(const DeliveryFilter& filter) {
  DeliveryFilter all = WithLimit(filter);
  all.before_id = UINT64_MAX;
  return Bounded(ListDeliveries(all));
}

}  // namespace carillon::memory
