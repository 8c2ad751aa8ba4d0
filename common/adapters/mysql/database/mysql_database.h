// The database that the adapters of the store's ports share: connections, caches of rows, and the
// number of segments.
//
// Place    The authority on the state of a cluster; sql/README.md explains its tables. An object
//          made by Open executes every call. An object made by Behind uses the same connections,
//          but asks a gate before each call.
// Threads  Thread-safe; calls block for the pool's wait plus the statement timeouts at most.
// Time     Now() is the database's clock; everywhere else the caller passes `now`.
// Errors   As the ports say. Open also: kDenied: the user name or password is wrong.
//          kConflict: this program cannot use the store's newer schema, an applied migration was
//          changed, or the server cannot keep the guarantees of docs/semantics.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "common/adapters/mysql/client/mysql_options.h"
#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/database/store_caches.h"

namespace carillon::mysql {

// SQL expression: the time of the database's clock, in microseconds since 1970.
inline constexpr std::string_view kDatabaseNow =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))";

class MysqlDatabase {
 public:
  // Connects, checks that the server is suitable (kConflict; see server_checks.h), applies the
  // missing migrations (one member at a time) and checks those already applied.
  // `interrupted` is asked about once a second while Open waits for another member's migration or
  // for a backup. If it returns true, Open returns kUnavailable.
  static Result<MysqlDatabase> Open(const MysqlOptions& options,
                                    const std::function<bool()>& interrupted = nullptr);

  // Returns the same database for callers that may use the store only while it is trusted. The gate
  // must outlive the returned object.
  MysqlDatabase Behind(StoreGate& gate, Gated gated) const;

  Result<WallTime> Now();

  Pool& pool() { return *pools_.all; }
  Pool& quick() { return *pools_.quick; }
  StoreCaches& caches() { return *caches_; }
  uint32_t segment_count() const { return segment_count_; }

 private:
  MysqlDatabase(std::shared_ptr<StoreCaches> caches, Pools pools, uint32_t segment_count);

  std::shared_ptr<StoreCaches> caches_;  // objects made by Behind share it and may live longer
  Pools pools_;
  uint32_t segment_count_;
};

}  // namespace carillon::mysql
