// Executors, idempotency keys, settings, retention.
#include "tests/twins/memory_store.h"

namespace carillon::memory {

Result<ExecutorRecord> MemoryStore::RegisterExecutor(const ExecutorRecord& record) {
  MutexLock lock(mu_);
  const auto [it, added] = tables_.executors.emplace(record.id, record);
  if (!added) {
    ExecutorRecord fresh = record;
    fresh.enabled = it->second.enabled;
    fresh.draining = it->second.draining;
    fresh.labels = it->second.labels;
    it->second = std::move(fresh);
  }
  return it->second;
}

Status MemoryStore::UpdateExecutors(const std::vector<ExecutorRecord>& records) {
  MutexLock lock(mu_);
  for (const ExecutorRecord& record : records) {
    const auto it = tables_.executors.find(record.id);
    if (it == tables_.executors.end() || it->second.incarnation != record.incarnation) continue;
    it->second.state = record.state;
    it->second.slots = record.slots;
    it->second.running = record.running;
    it->second.load = record.load;
    it->second.last_heartbeat = record.last_heartbeat;
  }
  return {};
}

Result<std::vector<ExecutorRecord>> MemoryStore::ListExecutors() {
  MutexLock lock(mu_);
  std::vector<ExecutorRecord> all;
  for (const auto& [id, record] : tables_.executors) all.push_back(record);
  return all;
}

Result<ExecutorRecord*> MemoryStore::FindExecutor(const ExecutorId& id) {
  const auto it = tables_.executors.find(id);
  if (it == tables_.executors.end()) return {ErrorCode::kNotFound, "no executor " + id.value()};
  return &it->second;
}

Result<ExecutorRecord> MemoryStore::GetExecutor(const ExecutorId& id) {
  MutexLock lock(mu_);
  CARILLON_ASSIGN_OR_RETURN(const ExecutorRecord* record, FindExecutor(id));
  return *record;
}

Result<ExecutorRecord> MemoryStore::SetExecutorEnabled(const ExecutorId& id, bool enabled) {
  MutexLock lock(mu_);
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord * record, FindExecutor(id));
  record->enabled = enabled;
  return *record;
}

Result<ExecutorRecord> MemoryStore::SetExecutorDraining(const ExecutorId& id, bool draining) {
  MutexLock lock(mu_);
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord * record, FindExecutor(id));
  record->draining = draining;
  return *record;
}

Result<ExecutorRecord> MemoryStore::SetExecutorLabels(const LabelEdit& edit) {
  MutexLock lock(mu_);
  CARILLON_ASSIGN_OR_RETURN(ExecutorRecord * record, FindExecutor(edit.id));
  if (record->labels != edit.expected && record->labels != edit.labels) {
    return {ErrorCode::kConflict, "the labels of " + edit.id.value() + " were changed meanwhile"};
  }
  record->labels = edit.labels;
  return *record;
}

Result<RequestLookup> MemoryStore::BeginRequest(const std::string& scope, const std::string& key,
                                                const std::string& fingerprint, WallTime now) {
  MutexLock lock(mu_);
  const auto id = std::make_pair(scope, key);
  const auto it = tables_.requests.find(id);
  if (it != tables_.requests.end() && now - it->second.begun < kRequestKeyKept) {
    const RequestEntry& first = it->second;
    if (first.fingerprint != fingerprint) return RequestLookup{RequestState::kMismatch};
    if (first.answer) return RequestLookup{RequestState::kReplay, *first.answer};
    if (now - first.begun < kRequestInFlight) return RequestLookup{RequestState::kInFlight};
  }
  tables_.requests[id] = {.fingerprint = fingerprint, .begun = now};
  return RequestLookup{RequestState::kNew};
}

Status MemoryStore::FinishRequest(const std::string& scope, const std::string& key,
                                  const StoredAnswer& answer) {
  MutexLock lock(mu_);
  const auto it = tables_.requests.find({scope, key});
  if (it == tables_.requests.end()) return {ErrorCode::kNotFound, "no request key " + key};
  it->second.answer = answer;
  return {};
}

Status MemoryStore::AbandonRequest(const std::string& scope, const std::string& key) {
  MutexLock lock(mu_);
  const auto it = tables_.requests.find({scope, key});
  if (it != tables_.requests.end() && !it->second.answer) tables_.requests.erase(it);
  return {};
}

Status MemoryStore::RecordAudit(const AuditRecord& record) { return RecordAudits({record}); }

Status MemoryStore::RecordAudits(const std::vector<AuditRecord>& records) {
  MutexLock lock(mu_);
  for (AuditRecord kept : records) {
    kept.id = ++tables_.last_audit_id;
    tables_.audit[kept.id] = std::move(kept);
  }
  return {};
}

Result<std::vector<AuditRecord>> MemoryStore::ListAudit(const AuditFilter& filter) {
  MutexLock lock(mu_);
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

Result<ClusterSettings> MemoryStore::ReadSettings() {
  MutexLock lock(mu_);
  return tables_.settings;
}

Result<ClusterSettings> MemoryStore::WriteSettings(int64_t expected, const ClusterSettings& next) {
  MutexLock lock(mu_);
  if (tables_.settings.version != expected) {
    return {ErrorCode::kConflict, "the settings were changed meanwhile"};
  }
  return tables_.settings = next;
}

Result<Upkeep> MemoryStore::Maintain(WallTime now, Duration retention) {
  MutexLock lock(mu_);
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
  for (const RunKey& key : old) {
    if (!days_open.contains(day_of(key.fire))) tables_.EraseRun(key);
  }
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
  std::erase_if(tables_.dead_letters,
                [&](const auto& letter) { return letter.second.created < before; });
  auto& notice_keys = tables_.notice_keys;
  std::erase_if(tables_.notices, [&](const auto& entry) {
    const Notice& notice = entry.second.notice;
    const bool gone = !entry.second.open && notice.created < before;
    if (gone) notice_keys.erase({notice.key, notice.attempt, notice.kind});
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
  for (const auto& [id, job_no] : tables_.job_ids()) {
    JobEntry& job = *tables_.FindJob(job_no);
    std::erase_if(job.versions, [&](const auto& entry) {
      const int64_t version = entry.first;
      const auto next = job.made.find(version + 1);
      return version <= job.version - kJobVersionsKept && next != job.made.end() &&
             next->second < before;
    });
  }
  return Upkeep::kDone;
}

}  // namespace carillon::memory
