// Port of the store's schema: the migrations that were applied, and the level of the schema that
// every program of the cluster knows (docs/upgrading.md).
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
#pragma once

#include <memory>

#include "common/base/result.h"

namespace carillon {

// The number of the schema of the first release. Everything that it can store is always on.
inline constexpr int kFirstSchema = 1;

struct SchemaLevels {
  int known = 0;    // newest migration of this program
  int applied = 0;  // newest migration of the store
  // Every program that may use the store knows this migration, so what needs it may be written.
  // Never decreases.
  int finished = 0;

  bool operator==(const SchemaLevels&) const = default;
};

// While this object lives, no migration runs and no member can open the store.
class SchemaHold {
 public:
  virtual ~SchemaHold() = default;
  // Raises `finished` to `applied`. From now on no older program can open the store. kConflict:
  // this program does not know the newest migration.
  virtual Status Finish() = 0;
};

class SchemaStore {
 public:
  virtual ~SchemaStore() = default;

  virtual Result<SchemaLevels> ReadLevels() = 0;
  // Does not wait. kUnavailable: a member is migrating, or another hold exists.
  virtual Result<std::unique_ptr<SchemaHold>> Hold() = 0;
};

}  // namespace carillon
