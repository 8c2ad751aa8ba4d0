// Resources of sign-in besides the store: Argon2id on separate threads, the lock-out, and the limit
// on audited failures.
//
// Threads  Thread-safe. Hash and Verify wait for earlier passwords: kHashedAtOnce run at a time and
//          kHashesWaiting wait, so that a flood leaves workers for everything else.
// Errors   kExhausted: too many passwords are waiting.
#pragma once

#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/worker_pool.h"
#include "scheduler/auth/lock_out.h"

namespace carillon::scheduler {

class SignIn {
 public:
  explicit SignIn(const Clock& clock) : clock_(clock) {}

  Result<std::string> Hash(const std::string& password);
  Result<bool> Verify(const std::string& hash, const std::string& password);

  // As in LockOut; an account is a name as typed.
  std::optional<Duration> Admit(const std::string& account, const std::string& address);
  void Succeeded(const std::string& account, const std::string& address);
  void Withdraw(const std::string& account, const std::string& address);
  void Forgive(const std::string& account);
  // Whether a failure is audited; then the number of earlier ones that were not.
  std::optional<int64_t> TellFailure();

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
