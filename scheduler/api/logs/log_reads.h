// Places for requests that read a long log: each holds a worker for seconds.
//
// Threads  Thread-safe; never blocks.
// Always   At most `all_max` at a time, kOfOneAccountMax of them for one account, so that workers
//          are left for everything else.
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
  // So much of a log, as it is stored, is read without a place. Entries do not bound it: each may
  // have 16 KiB.
  static constexpr size_t kShortLogBytes = 256u << 10;

  explicit LogReads(size_t all_max) : all_max_(all_max) {}

  // Held while the log is read. Must not outlive this.
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
  // 429: the account has its share. 503: all are taken.
  Outcome<std::unique_ptr<Place>> Enter(const std::string& account);

 private:
  void Leave(const std::string& account);

  const size_t all_max_;
  Mutex mu_;
  size_t all_ GUARDED_BY(mu_) = 0;
  std::map<std::string, size_t> of_account_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
