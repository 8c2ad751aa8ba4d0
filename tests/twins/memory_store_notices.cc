// In-memory NoticeStore: notices and their deliveries.
#include <algorithm>

#include "tests/twins/memory_store.h"

namespace carillon::memory {
namespace {

template <typename T>
bool IsIn(const std::vector<T>& list, const T& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

std::tuple<RunKey, int, NoticeKind> KeyOf(const Notice& notice) {
  return {notice.key, notice.attempt, notice.kind};
}

Delivery WithoutMessage(const Delivery& delivery) {
  Delivery shown = delivery;
  shown.message.clear();
  return shown;
}

// The failed run itself also counts as a recovery, whenever its success was reported.
std::optional<Recovery> FindRecovery(const Tables& tables, JobNo job_no,
                                     const NoticeMemoryEntry& memory, WallTime now) {
  const std::map<RunKey, RunEntry>& runs = tables.runs();
  for (auto it = runs.lower_bound({memory.failed_fire, {}, 0}); it != runs.end(); ++it) {
    const RunEntry& run = it->second;
    if (it->first.fire > now) break;
    if (run.row.job_no != job_no || run.row.state != RunState::kCompleted) continue;
    const bool since = run.result.ended > memory.failed || run.row.key.fire == memory.failed_fire;
    if (!since) continue;
    return Recovery{.segment = memory.segment,
                    .job_no = job_no,
                    .key = run.row.key,
                    .attempt = run.row.attempt};
  }
  return std::nullopt;
}

// Remembers a decision. A sent notice of a failure starts the watch for a success; one that is held
// back moves the time from which a success counts.
void Remember(Tables& tables, const NoticeDecision& decision, WallTime now) {
  const Notice& notice = decision.notice;
  const bool failed = notice.kind == NoticeKind::kFailed;
  const auto place = std::make_pair(notice.job_no, notice.kind);
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

void MemoryStore::AddNotice(Notice notice) {
  if (!tables_.notice_keys.insert(KeyOf(notice)).second) return;
  notice.id = ++tables_.last_notice_id;
  const uint64_t id = notice.id;
  tables_.notices[id] = {.notice = std::move(notice)};
}

OpenNotice MemoryStore::ToOpen(const Notice& notice) {
  const JobEntry& job = *tables_.FindJob(notice.job_no);
  OpenNotice open{.notice = notice, .job_id = job.id, .job_name = job.definition.name};
  if (IsReadable(job)) open.rules = job.definition.notify;
  const auto memory = tables_.notice_memories.find({notice.job_no, notice.kind});
  if (memory != tables_.notice_memories.end()) open.memory = memory->second.memory;
  return open;
}

Result<std::vector<OpenNotice>> MemoryStore::ScanNotices(const std::vector<SegmentId>& segments,
                                                         size_t limit) {
  MutexLock lock(mu_);
  std::vector<OpenNotice> open;
  for (const auto& [id, entry] : tables_.notices) {
    if (open.size() == limit) break;
    if (entry.open && IsIn(segments, entry.notice.segment)) open.push_back(ToOpen(entry.notice));
  }
  return open;
}

Result<std::optional<RunDetail>> MemoryStore::FindRun(const Notice& notice) {
  MutexLock lock(mu_);
  const RunEntry* run = tables_.FindRun(notice.key);
  if (run == nullptr || notice.kind == NoticeKind::kMissed) return std::optional<RunDetail>();
  return std::optional(ToDetail(*run, true));
}

Status MemoryStore::DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                                  WallTime now) {
  MutexLock lock(mu_);
  if (decisions.empty()) return {};
  CARILLON_TRY(CheckFence(fence));
  for (const NoticeDecision& decision : decisions) {
    const auto found = tables_.notices.find(decision.notice.id);
    if (found != tables_.notices.end() && found->second.open) continue;
    return {ErrorCode::kConflict,
            "notice " + std::to_string(decision.notice.id) + " was decided about meanwhile"};
  }
  for (const NoticeDecision& decision : decisions) {
    if (decision.verdict == NoticeVerdict::kDrop) {
      tables_.notice_keys.erase(KeyOf(decision.notice));
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

Status MemoryStore::AddNotices(const std::vector<Notice>& notices, const Fence& fence) {
  MutexLock lock(mu_);
  if (notices.empty()) return {};
  CARILLON_TRY(CheckFence(fence));
  for (const Notice& notice : notices) {
    AddNotice(notice);
    if (notice.kind != NoticeKind::kRecovered) continue;
    const auto memory = tables_.notice_memories.find({notice.job_no, NoticeKind::kFailed});
    if (memory == tables_.notice_memories.end()) continue;
    memory->second.watched = false;
    memory->second.memory.held_back = 0;
    memory->second.memory.recovered = true;
  }
  return {};
}

Result<RecoveryPage> MemoryStore::ScanRecoveries(const std::vector<SegmentId>& segments,
                                                 std::optional<JobNo> after, WallTime now,
                                                 size_t limit) {
  MutexLock lock(mu_);
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

Result<std::vector<Delivery>> MemoryStore::ScanDeliveries(
    const std::vector<SegmentId>& segments, const std::vector<DeliveryChannel>& channels,
    WallTime now, size_t limit) {
  MutexLock lock(mu_);
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

Status MemoryStore::RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence,
                                   WallTime now) {
  MutexLock lock(mu_);
  CARILLON_TRY(CheckFence(fence));
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

Result<DeliveryBacklog> MemoryStore::ReadBacklog(const std::vector<SegmentId>& segments) {
  MutexLock lock(mu_);
  DeliveryBacklog backlog;
  for (const auto& [id, entry] : tables_.deliveries) {
    const Delivery& delivery = entry.delivery;
    if (delivery.state != DeliveryState::kPending || !IsIn(segments, delivery.segment)) continue;
    ++backlog.pending;
    backlog.oldest = std::min(backlog.oldest, delivery.asked);
  }
  return backlog;
}

Result<std::vector<Delivery>> MemoryStore::ListDeliveries(const DeliveryFilter& filter) {
  MutexLock lock(mu_);
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

Result<Delivery> MemoryStore::ResendDelivery(uint64_t id, WallTime now) {
  MutexLock lock(mu_);
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

}  // namespace carillon::memory
