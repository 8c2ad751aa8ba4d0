// The port IdempotencyStore in memory.
#pragma once

#include <string>

#include "common/ports/store/idempotency_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryIdempotencyStore final : public IdempotencyStore {
 public:
  explicit MemoryIdempotencyStore(MemoryTables& tables) : tables_(tables) {}

  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override;
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override;
  Status AbandonRequest(const std::string& scope, const std::string& key) override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
