#include "tests/twins/memory_bulk_store.h"

#include <algorithm>

#include "tests/twins/memory_counts.h"

namespace carillon::memory {
namespace {

Error NoBulk(const std::string& id) { return {ErrorCode::kNotFound, "no bulk action " + id}; }

void Tally(BulkAction& action, BulkItem& item, BulkResult result) {
  item.result = result;
  if (result == BulkResult::kDone) ++action.done;
  if (result == BulkResult::kError) ++action.failed;
  if (result == BulkResult::kSkipped) ++action.skipped;
}

// Updates the counts and the state of an action after items got their results.
void Settle(BulkAction& action, WallTime now) {
  action.updated = now;
  if (action.done + action.failed + action.skipped < action.total) return;
  action.ended = now;
  if (action.state == BulkState::kRunning) action.state = BulkState::kDone;
}

}  // namespace

BulkEntry* MemoryBulkStore::FindBulk(const std::string& bulk_id) {
  for (auto& [number, entry] : tables_.bulk_actions) {
    if (entry.action.order.bulk_id == bulk_id) return &entry;
  }
  return nullptr;
}

Result<BulkEntry*> MemoryBulkStore::FindLeased(const BulkLease& lease) {
  BulkEntry* entry = FindBulk(lease.bulk_id);
  if (entry != nullptr && entry->lease == lease.number) return entry;
  return {ErrorCode::kFenced, "bulk action " + lease.bulk_id + " is another member's by now"};
}

Result<BulkAction> MemoryBulkStore::CreateBulk(
    const BulkOrder& order, const std::vector<std::string>& ids,
    const std::optional<KeyedAnswer<BulkAction>>& keyed) {
  MutexLock lock(tables_.mu);
  if (FindBulk(order.bulk_id) != nullptr) {
    return {ErrorCode::kExists, "there is a bulk action " + order.bulk_id};
  }
  const auto open =
      std::count_if(tables_.bulk_actions.begin(), tables_.bulk_actions.end(), [&](const auto& one) {
        return !HasEnded(one.second.action) && one.second.action.order.user_id == order.user_id;
      });
  if (open >= kBulkOpenMax) return {ErrorCode::kExhausted, "bulk actions of " + order.user_id};
  if (keyed) CARILLON_TRY(tables_.CheckUnsettled(keyed->scope, keyed->key));
  BulkEntry entry{.action = {.number = ++tables_.last_bulk_number, .order = order}, .items = {}};
  for (const std::string& id : ids) {
    entry.items.push_back({.position = static_cast<int64_t>(entry.items.size()), .id = id});
  }
  entry.action.total = static_cast<int64_t>(ids.size());
  Settle(entry.action, order.created);
  if (keyed) tables_.Settle(*keyed, entry.action);
  return tables_.bulk_actions.emplace(entry.action.number, entry).first->second.action;
}

Result<BulkAction> MemoryBulkStore::GetBulk(const std::string& bulk_id) {
  MutexLock lock(tables_.mu);
  const BulkEntry* entry = FindBulk(bulk_id);
  if (entry == nullptr) return NoBulk(bulk_id);
  return entry->action;
}

Result<std::vector<BulkAction>> MemoryBulkStore::ListBulk(const BulkFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<BulkAction> page;
  for (auto at = tables_.bulk_actions.rbegin();
       at != tables_.bulk_actions.rend() && page.size() < filter.limit; ++at) {
    const BulkAction& action = at->second.action;
    if (action.number >= filter.before_number) continue;
    if (filter.state && action.state != *filter.state) continue;
    if (filter.user_id && action.order.user_id != *filter.user_id) continue;
    if (filter.open && HasEnded(action)) continue;
    page.push_back(action);
  }
  return page;
}

Result<std::vector<BulkItem>> MemoryBulkStore::ListBulkItems(const std::string& bulk_id,
                                                             const BulkItemFilter& filter) {
  MutexLock lock(tables_.mu);
  const BulkEntry* entry = FindBulk(bulk_id);
  if (entry == nullptr) return NoBulk(bulk_id);
  std::vector<BulkItem> page;
  for (const BulkItem& item : entry->items) {
    if (page.size() == filter.limit) break;
    if (item.position <= filter.after_position) continue;
    if (!filter.result || item.result == *filter.result) page.push_back(item);
  }
  return page;
}

Result<BulkAction> MemoryBulkStore::CancelBulk(const std::string& bulk_id, WallTime now) {
  MutexLock lock(tables_.mu);
  BulkEntry* entry = FindBulk(bulk_id);
  if (entry == nullptr) return NoBulk(bulk_id);
  BulkAction& action = entry->action;
  if (action.state != BulkState::kRunning) return action;
  action.state = BulkState::kCancelled;
  for (BulkItem& item : entry->items) {
    if (item.result == BulkResult::kPending && !item.begun) {
      Tally(action, item, BulkResult::kSkipped);
    }
  }
  Settle(action, now);
  return action;
}

Result<std::optional<LeasedBulk>> MemoryBulkStore::TakeBulk(WallTime now, WallTime until) {
  MutexLock lock(tables_.mu);
  BulkEntry* oldest = nullptr;
  for (auto& [number, entry] : tables_.bulk_actions) {
    if (HasEnded(entry.action) || entry.leased_until > now) continue;
    if (oldest == nullptr || entry.action.updated < oldest->action.updated) oldest = &entry;
  }
  if (oldest == nullptr) return std::optional<LeasedBulk>();
  ++oldest->lease;
  oldest->leased_until = until;
  return std::optional(
      LeasedBulk{.action = oldest->action, .lease = {oldest->action.order.bulk_id, oldest->lease}});
}

Result<std::vector<BulkItem>> MemoryBulkStore::BeginBulkItems(const BulkLease& lease,
                                                              int64_t last_position,
                                                              WallTime /*now*/, WallTime until) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(BulkEntry * entry, FindLeased(lease));
  entry->leased_until = until;
  std::vector<BulkItem> begun;
  for (BulkItem& item : entry->items) {
    if (item.position > last_position || item.result != BulkResult::kPending) continue;
    begun.push_back(item);
    item.begun = true;
  }
  return begun;
}

Result<BulkAction> MemoryBulkStore::RecordBulkItems(const BulkLease& lease,
                                                    const std::vector<BulkItem>& items,
                                                    WallTime now, WallTime until) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(BulkEntry * entry, FindLeased(lease));
  entry->leased_until = until;
  if (items.empty()) return entry->action;
  for (const BulkItem& wanted : items) {
    BulkItem& item = entry->items.at(static_cast<size_t>(wanted.position));
    if (item.result != BulkResult::kPending) continue;
    item.run_id = wanted.run_id;
    item.error_json = wanted.error_json;
    Tally(entry->action, item, wanted.result);
  }
  Settle(entry->action, now);
  return entry->action;
}

Result<BulkAction> MemoryBulkStore::StopBulk(const BulkLease& lease, const std::string& error,
                                             const std::string& begun_error_json, WallTime now) {
  MutexLock lock(tables_.mu);
  CARILLON_ASSIGN_OR_RETURN(BulkEntry * entry, FindLeased(lease));
  BulkAction& action = entry->action;
  if (HasEnded(action)) return action;
  if (action.state == BulkState::kRunning) action.state = BulkState::kStopped;
  action.error = error;
  for (BulkItem& item : entry->items) {
    if (item.result != BulkResult::kPending) continue;
    if (item.begun) item.error_json = begun_error_json;
    Tally(action, item, item.begun ? BulkResult::kError : BulkResult::kSkipped);
  }
  Settle(action, now);
  return action;
}

Status MemoryBulkStore::ReleaseBulk(const BulkLease& lease) {
  MutexLock lock(tables_.mu);
  const auto entry = FindLeased(lease);
  if (entry.ok()) (*entry)->leased_until = WallTime{};
  return {};
}

Result<BoundedCount> MemoryBulkStore::CountBulk(const BulkFilter& filter) {
  BulkFilter all = WithLimit(filter);
  all.before_number = UINT64_MAX;
  return Bounded(ListBulk(all));
}

Result<BoundedCount> MemoryBulkStore::CountBulkItems(const std::string& bulk_id,
                                                     const BulkItemFilter& filter) {
  BulkItemFilter all = WithLimit(filter);
  all.after_position = -1;
  return Bounded(ListBulkItems(bulk_id, all));
}

}  // namespace carillon::memory
