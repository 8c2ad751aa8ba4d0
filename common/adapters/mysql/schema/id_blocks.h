// Numbers for jobs and schedules, taken from the store in blocks. Without blocks, the creation of a
// job would wait for the commit of another creation. When a process ends, the numbers left in its
// blocks are never used.
//
// Threads  Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/adapters/mysql/client/transaction.h"
#include "common/base/mutex.h"

namespace carillon::mysql {

inline constexpr uint64_t kIdBlockSize = 64;

class IdBlocks {
 public:
  // Returns the first of `count` consecutive numbers of the sequence `name` ("job", "schedule"),
  // which starts at 1. Must not be called inside a transaction.
  Result<uint64_t> Next(Pool& pool, const std::string& name, uint64_t count);
  // Discards the remaining numbers of all blocks.
  void Forget();

 private:
  struct Block {
    uint64_t next = 1;
    uint64_t end = 1;  // one past the last number
  };
  Mutex mu_;
  std::map<std::string, Block> blocks_ GUARDED_BY(mu_);
};

}  // namespace carillon::mysql
