// Numbers for jobs and schedules, taken from the store in blocks so that making a job does not wait
// for another one's commit. Numbers of a block that a process leaves unused are never used.
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
  // The first of `count` consecutive numbers of the sequence `name` ("job", "schedule"), from 1.
  // Not to be called inside a transaction.
  Result<uint64_t> Next(Pool& pool, const std::string& name, uint64_t count);
  // Blocks that were begun are not gone on with.
  void Forget();

 private:
  struct Block {
    uint64_t next = 1;
    uint64_t end = 1;  // one after the last
  };
  Mutex mu_;
  std::map<std::string, Block> blocks_ GUARDED_BY(mu_);
};

}  // namespace carillon::mysql
