#include "scheduler/auth/sign_in.h"

#include <future>
#include <memory>

#include "common/base/lower_case.h"
#include "scheduler/auth/passwords.h"

namespace carillon::scheduler {
namespace {

// Lower case, because the store finds names regardless of their case.
std::string AccountOf(const std::string& name) { return LowerCase(name); }

template <typename Answer, typename Work>
Result<Answer> RunOn(WorkerPool& pool, Work work) {
  // After the post, only the task owns the promise. A pool that stops destroys the task and with it
  // the promise. That ends the wait below.
  auto promise = std::make_shared<std::promise<Result<Answer>>>();
  std::future<Result<Answer>> answer = promise->get_future();
  if (!pool.TryPost([promise, work = std::move(work)] { promise->set_value(work()); })) {
    return Error{ErrorCode::kExhausted, "too many passwords are looked at already"};
  }
  promise.reset();
  try {
    return answer.get();
  } catch (const std::future_error&) {
    return Error{ErrorCode::kUnavailable, "the server is stopping"};
  }
}

}  // namespace

Result<std::string> SignIn::Hash(const std::string& password) {
  return RunOn<std::string>(hashing_, [password] { return HashPassword(password); });
}

Result<bool> SignIn::Verify(const std::string& hash, const std::string& password) {
  return RunOn<bool>(hashing_,
                     [hash, password] { return Result<bool>(VerifyPassword(hash, password)); });
}

std::optional<Duration> SignIn::Admit(const std::string& account, const std::string& address) {
  const MutexLock lock(mu_);
  return lock_out_.Admit(AccountOf(account), address, clock_.Steady());
}

void SignIn::Succeeded(const std::string& account, const std::string& address) {
  const MutexLock lock(mu_);
  lock_out_.Succeeded(AccountOf(account), address, clock_.Steady());
}

void SignIn::Withdraw(const std::string& account, const std::string& address) {
  const MutexLock lock(mu_);
  lock_out_.Withdraw(AccountOf(account), address, clock_.Steady());
}

void SignIn::Forgive(const std::string& account) {
  const MutexLock lock(mu_);
  lock_out_.Forgive(AccountOf(account));
}

std::optional<int64_t> SignIn::FailuresToReport() {
  const MutexLock lock(mu_);
  int64_t passed_over = 0;
  if (!failures_.Take(clock_.Steady(), passed_over)) return std::nullopt;
  return passed_over;
}

}  // namespace carillon::scheduler
