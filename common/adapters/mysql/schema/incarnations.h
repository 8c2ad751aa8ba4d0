// Executors' incarnations as small numbers: a run's row keeps four bytes of fixed width instead of
// two texts, so that a claim does not make the row grow (rows that grow split pages).
//
// Threads  Thread-safe. The numbers never change while the store keeps its history, so what was
//          read once stays true until Forget.
// Always   At most kIncarnationsKept are remembered; executors come and go for as long as a member
//          lives. When they are more, all are forgotten and read again as they are needed.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "common/adapters/mysql/client/transaction.h"
#include "common/base/ids.h"
#include "common/base/mutex.h"

namespace carillon::mysql {

inline constexpr int64_t kIncarnationsPerCall = 20'000;
inline constexpr size_t kIncarnationsKept = 32'768;

// Deletes the numbers of incarnations that have not been their executor's since `before`, unless an
// open run is of one; kIncarnationsPerCall at most.
Status DeleteOldIncarnations(Pool& pool, WallTime now, WallTime before);

class Incarnations {
 public:
  using Key = std::pair<ExecutorId, Incarnation>;
  using Keys = std::unordered_map<uint32_t, Key>;

  explicit Incarnations(size_t kept_max = kIncarnationsKept) : kept_max_(kept_max) {}

  // The number of `key`, made if it is new. Not to be called inside a transaction.
  Result<uint32_t> NumberOf(Pool& pool, const Key& key);
  // The keys of those of `numbers` that are known; never one for 0 (never claimed).
  Result<Keys> Load(Session& session, const std::vector<uint32_t>& numbers);
  void Forget();
  size_t kept() const;

 private:
  void Remember(uint32_t number, const Key& key);

  const size_t kept_max_;
  mutable Mutex mu_;
  Keys keys_ GUARDED_BY(mu_);
  std::map<Key, uint32_t> numbers_ GUARDED_BY(mu_);
};

}  // namespace carillon::mysql
