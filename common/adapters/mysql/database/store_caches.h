// Caches of rows, shared by all adapters of one store.
//
// Threads  Each part is thread-safe. The MysqlDatabase objects of one store share one StoreCaches.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/adapters/mysql/client/unreadable.h"
#include "common/adapters/mysql/database/plain_writes.h"
#include "common/adapters/mysql/schema/id_blocks.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/base/metrics/metrics.h"

namespace carillon::mysql {

struct StoreCaches {
  explicit StoreCaches(Metrics* metrics) : unreadable(metrics) {}
  UnreadableRows unreadable;
  IdBlocks ids;
  Incarnations incarnations;
  PlainMemory plain;
  std::atomic<int64_t> versions_from{0};     // where DeleteOldVersions continues
  std::atomic<int64_t> short_lived_from{0};  // where DeleteShortLivedRuns continues
  std::atomic<uint64_t> slots_from{0};       // where ReadUnusedSlots continues
  std::atomic<int> tables_refused{0};        // maintenance calls in a row that found a table in use
};

}  // namespace carillon::mysql
