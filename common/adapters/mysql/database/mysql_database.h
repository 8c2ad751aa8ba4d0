// The database that the adapters of the store's ports share: connections, what is remembered of
// rows, and the number of segments.
//
// Place    The only truth of a cluster; sql/README.md explains its tables. Open makes one whose
//          calls all go through, Behind others on its connections that ask a gate first.
// Threads  Thread-safe; calls block for the pool's wait plus the statement time-outs at most.
// Time     Now() is the database's clock; everything else is told `now`.
// Errors   As the ports say. Open also: kDenied for a wrong user, kConflict for a schema that is
//          newer than this program or was changed by hand, or a server that cannot keep what is
//          promised.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "common/adapters/mysql/client/mysql_options.h"
#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/database/store_caches.h"

namespace carillon::mysql {

// An expression: microseconds of the database's clock.
inline constexpr std::string_view kDatabaseNow =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))";

class MysqlDatabase {
 public:
  // Connects, checks that the server can keep what is promised (kConflict), applies the migrations
  // that are missing (one member at a time), checks the rest.
  static Result<MysqlDatabase> Open(const MysqlOptions& options);

  // The same database for callers who must not reach another one than the trusted. The gate
  // outlives it.
  MysqlDatabase Behind(StoreGate& gate, Gated gated) const;

  Result<WallTime> Now();

  Pool& pool() { return *pools_.all; }
  Pool& quick() { return *pools_.quick; }
  StoreCaches& caches() { return *caches_; }
  uint32_t segment_count() const { return segment_count_; }

 private:
  MysqlDatabase(std::shared_ptr<StoreCaches> caches, Pools pools, uint32_t segment_count);

  std::shared_ptr<StoreCaches> caches_;  // with those Behind a gate, in any order of their ends
  Pools pools_;
  uint32_t segment_count_;
};

}  // namespace carillon::mysql
