#include "tests/twins/memory_identity_store.h"

#include <algorithm>

namespace carillon::memory {

Result<StoreIdentity> MemoryIdentityStore::Identify() {
  MutexLock lock(tables_.mu);
  return tables_.identity;
}

Result<uint64_t> MemoryIdentityStore::AdvanceMark(const StoreIdentity& seen) {
  MutexLock lock(tables_.mu);
  if (tables_.identity != seen) {
    return {ErrorCode::kConflict, "mark: the store is not the one seen"};
  }
  return ++tables_.identity.mark;
}

Result<uint64_t> MemoryIdentityStore::Accept(const StoreIdentity& seen, Epoch above) {
  MutexLock lock(tables_.mu);
  if (tables_.identity != seen) {
    return {ErrorCode::kConflict, "accept: the store is not the one seen"};
  }
  for (SegmentRecord& record : tables_.segments) {
    record.epoch = std::max(Epoch(record.epoch.value() + 1), above);
  }
  return ++tables_.identity.mark;
}

void MemoryIdentityStore::Forget() {
  MutexLock lock(tables_.mu);
  tables_.job_numbers.Forget();
  tables_.schedule_numbers.Forget();
  tables_.group_numbers.Forget();
  tables_.workflow_run_numbers.Forget();
}

}  // namespace carillon::memory
