// The port IdentityStore in memory.
#pragma once

#include "common/ports/store/identity_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryIdentityStore final : public IdentityStore {
 public:
  explicit MemoryIdentityStore(MemoryTables& tables) : tables_(tables) {}

  Result<StoreIdentity> Identify() override;
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override;
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override;
  void Forget() override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
