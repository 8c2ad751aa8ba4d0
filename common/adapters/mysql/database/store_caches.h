// Caches of rows, shared by all adapters of one store.
//
// Threads  Each part is thread-safe. The MysqlDatabase objects of one store share one StoreCaches.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/adapters/mysql/client/unreadable.h"
#include "common/adapters/mysql/database/plain_writes.h"
#include "common/adapters/mysql/database/trigger_cache.h"
#include "common/adapters/mysql/database/version_cache.h"
#include "common/adapters/mysql/schema/id_blocks.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"

namespace carillon::mysql {

// The progress of keeping runs of the days that are about to be dropped (operations/kept_runs.h).
class KeepProgress {
 public:
  struct Mark {
    int keep_last = 0;
    int64_t next_job = 0;  // continue after this job
    bool done = false;
  };
  // Starts again if another number of runs is to be kept.
  Mark Of(const std::string& partition, int keep_last) const {
    MutexLock lock(mu_);
    const auto found = marks_.find(partition);
    return found == marks_.end() || found->second.keep_last != keep_last ? Mark{} : found->second;
  }
  // Forgets other partitions: one is kept after the other.
  void Set(const std::string& partition, const Mark& mark) {
    MutexLock lock(mu_);
    std::erase_if(marks_, [&](const auto& entry) {
      return entry.first != partition && entry.first != kPast;
    });
    // The past is never dropped, so it is looked at again and again.
    if (partition == kPast && mark.done) {
      marks_.erase(partition);
    } else {
      marks_[partition] = mark;
    }
  }
  void Forget(const std::string& partition) {
    MutexLock lock(mu_);
    marks_.erase(partition);
  }

 private:
  static constexpr std::string_view kPast = "p_past";
  mutable Mutex mu_;
  std::map<std::string, Mark> marks_ GUARDED_BY(mu_);
};

struct StoreCaches {
  explicit StoreCaches(Metrics* metrics) : unreadable(metrics) {}
  UnreadableRows unreadable;
  IdBlocks ids;
  Incarnations incarnations;
  PlainMemory plain;
  TriggerCache triggers;
  VersionCache versions;
  std::atomic<int64_t> versions_from{0};     // where DeleteOldVersions continues
  std::atomic<int64_t> short_lived_from{0};  // where DeleteShortLivedRuns continues
  std::atomic<int64_t> kept_from{0};         // where DeleteKeptRuns continues
  KeepProgress keep_progress;
  std::atomic<uint64_t> slots_from{0};  // where ReadUnusedSlots continues
  std::atomic<int> tables_refused{0};   // maintenance calls in a row that found a table in use
};

}  // namespace carillon::mysql
