#include "tests/twins/memory_schema_store.h"

namespace carillon::memory {
namespace {

class MemorySchemaHold final : public SchemaHold {
 public:
  explicit MemorySchemaHold(MemoryTables& tables) : tables_(tables) {}
  MemorySchemaHold(const MemorySchemaHold&) = delete;
  MemorySchemaHold& operator=(const MemorySchemaHold&) = delete;
  ~MemorySchemaHold() override {
    MutexLock lock(tables_.mu);
    tables_.schema_held = false;
  }

  Status Finish() override {
    MutexLock lock(tables_.mu);
    SchemaLevels& levels = tables_.schema;
    if (levels.applied > levels.known) return {ErrorCode::kConflict, "the schema is newer"};
    levels.finished = levels.applied;
    return {};
  }

 private:
  MemoryTables& tables_;
};

}  // namespace

Result<SchemaLevels> MemorySchemaStore::ReadLevels() {
  MutexLock lock(tables_.mu);
  return tables_.schema;
}

Result<std::unique_ptr<SchemaHold>> MemorySchemaStore::Hold() {
  MutexLock lock(tables_.mu);
  if (tables_.schema_held) return {ErrorCode::kUnavailable, "the schema is held"};
  tables_.schema_held = true;
  return std::unique_ptr<SchemaHold>(std::make_unique<MemorySchemaHold>(tables_));
}

}  // namespace carillon::memory
