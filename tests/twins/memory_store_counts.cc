// The counts of lists: each one counts the rows that the list itself finds.
#include <algorithm>

#include "tests/twins/memory_store.h"

namespace carillon::memory {
namespace {

constexpr size_t kOneMore = kListedCountMax + 1;

BoundedCount Bounded(size_t found, bool all = true) {
  return {.seen = std::min(found, kListedCountMax), .all = all && found <= kListedCountMax};
}

template <typename Item>
Result<BoundedCount> Bounded(const Result<std::vector<Item>>& found) {
  if (!found.ok()) return found.error();
  return Bounded(found->size());
}

// Returns the filter from the first page on, with the limit of a count.
template <typename Filter>
Filter WithLimit(Filter filter) {
  filter.limit = kOneMore;
  return filter;
}

}  // namespace

Result<BoundedCount> MemoryStore::CountJobs(const JobFilter& filter) {
  JobFilter all = WithLimit(filter);
  all.after.reset();
  all.search_max = kCountLookedAtMax;
  CARILLON_ASSIGN_OR_RETURN(const JobPage page, ListJobs(all));
  return Bounded(page.jobs.size(), !page.searched_to);
}

Result<BoundedCount> MemoryStore::CountVersions(const JobId& id) {
  return Bounded(ListVersions(id, INT64_MAX, kOneMore));
}

Result<BoundedCount> MemoryStore::CountNamespaces() {
  return Bounded(ListNamespaces("", kOneMore));
}

Result<BoundedCount> MemoryStore::CountRuns(const RunFilter& filter, WallTime now) {
  RunFilter all = WithLimit(filter);
  all.before.reset();
  all.search_max = std::min(filter.search_max, kRunCountLookedAtMax);
  CARILLON_ASSIGN_OR_RETURN(const RunPage page, ListRuns(all, now));
  return Bounded(page.runs.size(), !page.searched_to);
}

Result<BoundedCount> MemoryStore::CountGaps(const GapFilter& filter) {
  GapFilter all = WithLimit(filter);
  all.before_id = UINT64_MAX;
  CARILLON_ASSIGN_OR_RETURN(const GapPage page, ListGaps(all));
  return Bounded(page.gaps.size());
}

Result<BoundedCount> MemoryStore::CountDeadLetters(const DeadLetterFilter& filter) {
  return Bounded(ListDeadLetters(WithLimit(filter)));
}

Result<BoundedCount> MemoryStore::CountDeliveries(const DeliveryFilter& filter) {
  DeliveryFilter all = WithLimit(filter);
  all.before_id = UINT64_MAX;
  return Bounded(ListDeliveries(all));
}

Result<BoundedCount> MemoryStore::CountAudit(const AuditFilter& filter) {
  AuditFilter all = WithLimit(filter);
  all.before_id = UINT64_MAX;
  return Bounded(ListAudit(all));
}

Result<BoundedCount> MemoryPeople::CountUsers() { return Bounded(ListUsers({.limit = kOneMore})); }

Result<BoundedCount> MemoryPeople::CountTokens(const TokenFilter& filter) {
  TokenFilter all = WithLimit(filter);
  all.after_token_id.clear();
  return Bounded(ListTokens(all));
}

Result<BoundedCount> MemoryPeople::CountSecrets() {
  return Bounded(ListSecrets({.limit = kOneMore}));
}

Result<BoundedCount> MemoryPeople::CountBulk(const BulkFilter& filter) {
  BulkFilter all = WithLimit(filter);
  all.before_number = UINT64_MAX;
  return Bounded(ListBulk(all));
}

Result<BoundedCount> MemoryPeople::CountBulkItems(const std::string& bulk_id,
                                                  const BulkItemFilter& filter) {
  BulkItemFilter all = WithLimit(filter);
  all.after_position = -1;
  return Bounded(ListBulkItems(bulk_id, all));
}

}  // namespace carillon::memory
