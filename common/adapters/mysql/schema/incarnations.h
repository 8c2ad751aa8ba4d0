// Maps incarnations of executors to numbers. A run's row holds the four bytes of a number instead
// of two texts. So a claim does not make the row grow. Growing rows would split pages.
//
// Threads  Thread-safe. The numbers never change while the store keeps its history, so a number
//          that was read stays valid until Forget.
// Always   At most kIncarnationsKept numbers are cached, because a member meets more and more
//          incarnations over time. A full cache is emptied, and filled again on demand.
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

// Deletes the numbers of old incarnations, at most kIncarnationsPerCall of them. An incarnation is
// old if it was last seen before `before` as the current incarnation of its executor. Numbers that
// an open run or a kept one refers to stay.
Status DeleteOldIncarnations(Pool& pool, WallTime now, WallTime before);

class Incarnations {
 public:
  using Key = std::pair<ExecutorId, Incarnation>;
  using Keys = std::unordered_map<uint32_t, Key>;

  explicit Incarnations(size_t kept_max = kIncarnationsKept) : kept_max_(kept_max) {}

  // Returns the number of `key`. A new key gets a new number.
  // Must not be called inside a transaction.
  Result<uint32_t> NumberOf(Pool& pool, const Key& key);
  // Returns the keys of those `numbers` that are known. 0 (never claimed) has no key.
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
