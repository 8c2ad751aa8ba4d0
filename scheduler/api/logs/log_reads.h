// Limits concurrent reads of long logs. Such a read occupies a worker for seconds.
//
// Threads  Thread-safe; never blocks.
// Always   At most `all_max` places are taken at a time, and at most kOfOneAccountMax by one
//          account. So workers are left for other requests.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "scheduler/api/http/problem.h"

namespace carillon::scheduler {

class LogReads {
 public:
  static constexpr size_t kOfOneAccountMax = 2;
  // A read of up to this many stored bytes needs no place. The limit is in bytes and not in
  // entries, because one entry may have up to 16 KiB.
  static constexpr size_t kShortLogBytes = 256u << 10;

  explicit LogReads(size_t all_max) : all_max_(all_max) {}

  // A place. It is held while the log is read, and must not outlive its LogReads.
  class Place {
   public:
    Place(LogReads& reads, std::string account) : reads_(reads), account_(std::move(account)) {}
    ~Place() { reads_.Leave(account_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    LogReads& reads_;
    const std::string account_;
  };
  // 429: the account has kOfOneAccountMax places already. 503: all places are taken.
  Outcome<std::unique_ptr<Place>> Enter(const std::string& account);

 private:
  void Leave(const std::string& account);

  const size_t all_max_;
  Mutex mu_;
  size_t all_ GUARDED_BY(mu_) = 0;
  std::map<std::string, size_t> of_account_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
