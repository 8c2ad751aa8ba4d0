// Resources of signing in besides the store: Argon2id on threads of its own, the lock-out, and the
// limit on audited failures.
//
// Threads  Thread-safe. Hash and Verify block for the passwords before
//          it: kHashedAtOnce at a time and kHashesWaiting behind them,
//          so that a flood of them leaves workers for everything else.
// Errors   kExhausted: too many passwords wait already.
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

  // As LockOut's; an account is a name as it was typed.
  std::optional<Duration> Admit(const std::string& account, const std::string& address);
  void Succeeded(const std::string& account, const std::string& address);
  void Withdraw(const std::string& account, const std::string& address);
  void Forgive(const std::string& account);
  // Whether the audit is told of a failure; then how many before it it was not told of.
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
