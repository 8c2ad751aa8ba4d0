#include "tests/twins/memory_idempotency_store.h"

namespace carillon::memory {
namespace {

constexpr Duration kRequestInFlight = 1min;  // then its member counts as dead

}  // namespace

Result<RequestLookup> MemoryIdempotencyStore::BeginRequest(const std::string& scope,
                                                           const std::string& key,
                                                           const std::string& fingerprint,
                                                           WallTime now) {
  MutexLock lock(tables_.mu);
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

Status MemoryIdempotencyStore::FinishRequest(const std::string& scope, const std::string& key,
                                             const StoredAnswer& answer) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.requests.find({scope, key});
  if (it == tables_.requests.end()) return {ErrorCode::kNotFound, "no request key " + key};
  it->second.answer = answer;
  return {};
}

Status MemoryIdempotencyStore::AbandonRequest(const std::string& scope, const std::string& key) {
  MutexLock lock(tables_.mu);
  const auto it = tables_.requests.find({scope, key});
  if (it != tables_.requests.end() && !it->second.answer) tables_.requests.erase(it);
  return {};
}

}  // namespace carillon::memory
