#include "tests/twins/memory_audit_store.h"

#include <algorithm>

#include "tests/twins/memory_counts.h"

namespace carillon::memory {

Status MemoryAuditStore::RecordAudit(const AuditRecord& record) { return RecordAudits({record}); }

Status MemoryAuditStore::RecordAudits(const std::vector<AuditRecord>& records) {
  MutexLock lock(tables_.mu);
  for (AuditRecord kept : records) {
    kept.id = ++tables_.last_audit_id;
    tables_.audit[kept.id] = std::move(kept);
  }
  return {};
}

Result<std::vector<AuditRecord>> MemoryAuditStore::ListAudit(const AuditFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<AuditRecord> page;
  const auto is_wanted = [&](const AuditRecord& record) {
    return (filter.object_id.empty() || record.object_id == filter.object_id) &&
           (filter.actor.empty() || record.actor == filter.actor ||
            record.actor.starts_with(filter.actor + "/")) &&
           (filter.actions.empty() ||
            std::ranges::find(filter.actions, record.action) != filter.actions.end()) &&
           (!filter.since || record.at >= *filter.since) &&
           (!filter.until || record.at < *filter.until);
  };
  if (filter.oldest_first) {
    for (auto it = tables_.audit.upper_bound(filter.after_id);
         it != tables_.audit.end() && it->first < filter.before_id && page.size() < filter.limit;
         ++it) {
      if (is_wanted(it->second)) page.push_back(it->second);
    }
    return page;
  }
  auto it = tables_.audit.lower_bound(filter.before_id);
  while (it != tables_.audit.begin() && page.size() < filter.limit) {
    --it;
    if (it->first <= filter.after_id) break;
    if (is_wanted(it->second)) page.push_back(it->second);
  }
  return page;
}

Result<BoundedCount> MemoryAuditStore::CountAudit(const AuditFilter& filter) {
  AuditFilter all = WithLimit(filter);
  all.before_id = UINT64_MAX;
  return Bounded(ListAudit(all));
}

}  // namespace carillon::memory
