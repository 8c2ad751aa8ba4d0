#include "tests/twins/memory_secret_store.h"

#include <set>

#include "tests/twins/memory_counts.h"

namespace carillon::memory {
namespace {

Error NoSecret(const std::string& name) { return {ErrorCode::kNotFound, "no secret " + name}; }

}  // namespace

Status MemorySecretStore::CreateSecret(const StoredSecret& secret) {
  MutexLock lock(tables_.mu);
  if (tables_.secrets.emplace(secret.record.name, secret).second) return {};
  return {ErrorCode::kExists, "there is a secret " + secret.record.name};
}

Result<StoredSecret> MemorySecretStore::GetSecret(const std::string& name) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.secrets.find(name);
  if (found == tables_.secrets.end()) return NoSecret(name);
  return found->second;
}

Result<std::vector<StoredSecret>> MemorySecretStore::FindSecrets(
    const std::vector<std::string>& names) {
  MutexLock lock(tables_.mu);
  std::vector<StoredSecret> secrets;
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    const auto found = tables_.secrets.find(name);
    if (found != tables_.secrets.end()) secrets.push_back(found->second);
  }
  return secrets;
}

Result<std::vector<SecretRecord>> MemorySecretStore::ListSecrets(const SecretFilter& filter) {
  MutexLock lock(tables_.mu);
  std::vector<SecretRecord> page;
  for (auto at = tables_.secrets.upper_bound(filter.after_name);
       at != tables_.secrets.end() && page.size() < filter.limit; ++at) {
    const SecretRecord& record = at->second.record;
    if (filter.not_under_key && record.key_id == *filter.not_under_key) continue;
    page.push_back(record);
  }
  return page;
}

Result<SecretRecord> MemorySecretStore::UpdateSecret(const StoredSecret& wanted, WallTime now) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.secrets.find(wanted.record.name);
  if (found == tables_.secrets.end()) return NoSecret(wanted.record.name);
  SecretRecord& record = found->second.record;
  if (record.version != wanted.record.version) {
    return {ErrorCode::kConflict, "secret " + record.name + " is at another version"};
  }
  record.description = wanted.record.description;
  record.shared = wanted.record.shared;
  record.key_id = wanted.value.key_id;
  record.updated = now;
  ++record.version;
  found->second.value = wanted.value;
  return record;
}

Status MemorySecretStore::DeleteSecret(const std::string& name, int64_t expected_version) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.secrets.find(name);
  if (found == tables_.secrets.end()) return NoSecret(name);
  if (found->second.record.version != expected_version) {
    return {ErrorCode::kConflict, "secret " + name + " is at another version"};
  }
  tables_.secrets.erase(found);
  return {};
}

Status MemorySecretStore::RewrapSecret(const std::string& name, const SealedValue& from,
                                       const SealedValue& to) {
  MutexLock lock(tables_.mu);
  const auto found = tables_.secrets.find(name);
  if (found == tables_.secrets.end()) return NoSecret(name);
  if (found->second.value != from) {
    return {ErrorCode::kConflict, "secret " + name + " was changed meanwhile"};
  }
  found->second.value = to;
  found->second.record.key_id = to.key_id;
  return {};
}

Result<BoundedCount> MemorySecretStore::CountSecrets() {
  return Bounded(ListSecrets({.limit = kOneMore}));
}

}  // namespace carillon::memory
