// The parts of sign-in that do not need the store: Argon2id on its own threads, the lock-out, and
// the limit on failures in the audit.
//
// Threads  Thread-safe. Hash and Verify block until they are done. At most kHashedAtOnce passwords
//          are hashed at a time, and at most kHashesWaiting wait. So a flood of sign-ins leaves
//          workers for other requests.
// Errors   kExhausted: too many passwords are waiting. kUnavailable: stopped.
#pragma once

#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/loops/worker_pool.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "scheduler/auth/lock_out.h"

namespace carillon::scheduler {

class SignIn {
 public:
  explicit SignIn(const Clock& clock) : clock_(clock) {}

  Result<std::string> Hash(const std::string& password);
  Result<bool> Verify(const std::string& hash, const std::string& password);

  // See LockOut. `account` is the name as the user typed it; its case does not matter.
  std::optional<Duration> Admit(const std::string& account, const std::string& address);
  void Succeeded(const std::string& account, const std::string& address);
  void Withdraw(const std::string& account, const std::string& address);
  void Forgive(const std::string& account);
  // Call it for each failure. nullopt: do not record the failure in the audit. Otherwise record it
  // with the returned number of failures that were not recorded since the last recorded one.
  std::optional<int64_t> FailuresToReport();

  void Stop() { hashing_.Stop(); }

  static constexpr size_t kHashedAtOnce = 2;
  static constexpr size_t kHashesWaiting = 4;

 private:
  const Clock& clock_;
  Mutex mu_;
  LockOut lock_out_ GUARDED_BY(mu_);
  FailureBudget failures_ GUARDED_BY(mu_);
  WorkerPool hashing_{{.threads = kHashedAtOnce, .queue_max = kHashesWaiting}};
};

}  // namespace carillon::scheduler
