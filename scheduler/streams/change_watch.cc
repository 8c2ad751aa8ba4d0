#include "scheduler/streams/change_watch.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "common/base/stable_hash.h"

namespace carillon::scheduler {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kTopics{
    {{"job", "jobs"},
     {"run", "runs"},
     {"executor", "executors"},
     {"user", "users"},
     {"token", "tokens"},
     {"secret", "secrets"},
     {"delivery", "deliveries"},
     {"config", "config"},
     {"bulk", "bulk"}}};

// True for topics that every user may read. Only their changes carry the id of the object.
bool NamesObject(std::string_view topic) {
  constexpr std::array<std::string_view, 5> kOpen{"jobs", "runs", "executors", "deliveries",
                                                  "bulk"};
  return std::find(kOpen.begin(), kOpen.end(), topic) != kOpen.end();
}

std::optional<Change> ChangeOf(const AuditRecord& record) {
  const std::string_view subject =
      std::string_view(record.action).substr(0, record.action.find('.'));
  for (const auto& [prefix, topic] : kTopics) {
    if (prefix != subject) continue;
    return Change{.topic = std::string(topic),
                  .id = NamesObject(topic) ? record.object_id : std::string()};
  }
  return std::nullopt;
}

uint64_t MarkOf(const std::vector<Delivery>& deliveries) {
  std::string text;
  for (const Delivery& delivery : deliveries) {
    text += fmt::format("{} {} {} {}\n", delivery.id, static_cast<int>(delivery.state),
                        delivery.attempts, delivery.asked.time_since_epoch().count());
  }
  return StableHash(text);
}

uint64_t MarkOf(const std::vector<ExecutorRecord>& executors) {
  std::string text;
  for (const ExecutorRecord& executor : executors) {
    text += fmt::format("{} {} {} {} {}\n", executor.id.value(), executor.incarnation.value(),
                        static_cast<int>(executor.state), executor.enabled, executor.draining);
  }
  return StableHash(text);
}

}  // namespace

void ChangeWatch::Look(SteadyTime now) {
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  LookAtAudit();
  LookAtRuns();
  LookAtExecutors();
  LookAtDeliveries();
  LookAtBulk();
}

std::optional<std::vector<Change>> ChangeWatch::From(uint64_t number) const {
  if (number < first_ || number > end()) return std::nullopt;
  const auto from = kept_.begin() + static_cast<std::ptrdiff_t>(number - first_);
  return std::vector<Change>(from, kept_.end());
}

void ChangeWatch::Tell(Change change) {
  kept_.push_back(std::move(change));
  if (kept_.size() <= kKept) return;
  kept_.pop_front();
  ++first_;
}

void ChangeWatch::Forget() {
  first_ = end() + 1;
  kept_.clear();
}

void ChangeWatch::LookAtAudit() {
  AuditFilter filter{.limit = audited_ ? kReadMax : kCommitLag};
  if (audited_) filter.after_id = *audited_ - std::min(*audited_, kCommitLag);
  const auto records = ports_.audit.ListAudit(filter);
  if (!records.ok()) return;
  const uint64_t newest = records->empty() ? 0 : records->front().id;
  if (!audited_) {
    audited_ = newest;
    for (const AuditRecord& record : *records) seen_.insert(record.id);
    return;
  }
  const bool gone_back = newest < *audited_;  // another store, or this one restored from a backup
  if (records->size() == kReadMax || gone_back) {
    Forget();
    seen_.clear();
    for (const AuditRecord& record : *records) seen_.insert(record.id);
  } else {
    for (auto record = records->rbegin(); record != records->rend(); ++record) {
      if (!seen_.insert(record->id).second) continue;
      if (auto change = ChangeOf(*record)) Tell(std::move(*change));
      Tell({.topic = "audit"});
    }
  }
  audited_ = newest;
  seen_.erase(seen_.begin(), seen_.lower_bound(*audited_ - std::min(*audited_, kCommitLag)));
}

void ChangeWatch::LookAtRuns() {
  const auto now = ports_.cluster_now();
  if (!now.ok()) return;
  const auto mark = ports_.runs.RunsFingerprint(*now);
  if (!mark.ok()) return;
  if (runs_mark_ && *runs_mark_ != *mark) Tell({.topic = "runs"});
  runs_mark_ = *mark;
}

void ChangeWatch::LookAtExecutors() {
  const auto executors = ports_.executors.ListExecutors();
  if (!executors.ok()) return;
  const uint64_t mark = MarkOf(*executors);
  if (executors_mark_ && *executors_mark_ != mark) Tell({.topic = "executors"});
  executors_mark_ = mark;
}

void ChangeWatch::LookAtDeliveries() {
  const auto deliveries = ports_.notices.ListDeliveries({.limit = kDeliveriesSeen});
  if (!deliveries.ok()) return;
  const uint64_t mark = MarkOf(*deliveries);
  if (deliveries_mark_ && *deliveries_mark_ != mark) Tell({.topic = "deliveries"});
  deliveries_mark_ = mark;
}

// Detects the progress and the end of bulk actions. Their creation and cancellation are
// in the audit.
void ChangeWatch::LookAtBulk() {
  const auto open = ports_.bulk.ListBulk({.open = true, .limit = kBulkLookedAt});
  if (!open.ok()) return;
  std::map<std::string, WallTime> now;
  for (const BulkAction& action : *open) now.emplace(action.order.bulk_id, action.updated);
  for (const auto& [id, updated] : bulk_) {
    const auto found = now.find(id);
    if (found == now.end() || found->second != updated) Tell({.topic = "bulk", .id = id});
  }
  bulk_ = std::move(now);
}

}  // namespace carillon::scheduler
