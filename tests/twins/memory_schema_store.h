// The port SchemaStore in memory.
#pragma once

#include "common/ports/store/schema_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemorySchemaStore final : public SchemaStore {
 public:
  explicit MemorySchemaStore(MemoryTables& tables) : tables_(tables) {}

  Result<SchemaLevels> ReadLevels() override;
  Result<std::unique_ptr<SchemaHold>> Hold() override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
