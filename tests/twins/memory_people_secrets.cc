#include "tests/twins/memory_people.h"

namespace carillon::memory {
namespace {

Error NoSecret(const std::string& name) { return {ErrorCode::kNotFound, "no secret " + name}; }

}  // namespace

Status MemoryPeople::CreateSecret(const StoredSecret& secret) {
  MutexLock lock(mu_);
  if (tables_.secrets.emplace(secret.record.name, secret).second) return {};
  return {ErrorCode::kExists, "there is a secret " + secret.record.name};
}

Result<StoredSecret> MemoryPeople::GetSecret(const std::string& name) {
  MutexLock lock(mu_);
  const auto found = tables_.secrets.find(name);
  if (found == tables_.secrets.end()) return NoSecret(name);
  return found->second;
}

Result<std::vector<StoredSecret>> MemoryPeople::FindSecrets(const std::vector<std::string>& names) {
  MutexLock lock(mu_);
  std::vector<StoredSecret> secrets;
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    const auto found = tables_.secrets.find(name);
    if (found != tables_.secrets.end()) secrets.push_back(found->second);
  }
  return secrets;
}

Result<std::vector<SecretRecord>> MemoryPeople::ListSecrets(const SecretFilter& filter) {
  MutexLock lock(mu_);
  std::vector<SecretRecord> page;
  for (auto at = tables_.secrets.upper_bound(filter.after_name);
       at != tables_.secrets.end() && page.size() < filter.limit; ++at) {
    const SecretRecord& record = at->second.record;
    if (filter.not_under_key && record.key_id == *filter.not_under_key) continue;
    page.push_back(record);
  }
  return page;
}

Result<SecretRecord> MemoryPeople::UpdateSecret(const StoredSecret& wanted, WallTime now) {
  MutexLock lock(mu_);
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

Status MemoryPeople::DeleteSecret(const std::string& name, int64_t expected_version) {
  MutexLock lock(mu_);
  const auto found = tables_.secrets.find(name);
  if (found == tables_.secrets.end()) return NoSecret(name);
  if (found->second.record.version != expected_version) {
    return {ErrorCode::kConflict, "secret " + name + " is at another version"};
  }
  tables_.secrets.erase(found);
  return {};
}

Status MemoryPeople::RewrapSecret(const std::string& name, const SealedValue& from,
                                  const SealedValue& to) {
  MutexLock lock(mu_);
  const auto found = tables_.secrets.find(name);
  if (found == tables_.secrets.end()) return NoSecret(name);
  if (found->second.value != from) {
    return {ErrorCode::kConflict, "secret " + name + " was changed meanwhile"};
  }
  found->second.value = to;
  found->second.record.key_id = to.key_id;
  return {};
}

}  // namespace carillon::memory
