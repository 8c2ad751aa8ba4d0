#include "scheduler/api/logs/log_reads.h"

namespace carillon::scheduler {
namespace {

Problem Refused(int status, std::string code, std::string detail) {
  Problem problem{.status = status, .code = std::move(code), .detail = std::move(detail)};
  problem.headers.emplace_back("Retry-After", "1");
  return problem;
}

}  // namespace

Outcome<std::unique_ptr<LogReads::Place>> LogReads::Enter(const std::string& account) {
  MutexLock lock(mu_);
  const auto known = of_account_.find(account);
  if (known != of_account_.end() && known->second >= kOfOneAccountMax) {
    return Refused(
        429, "too_many_requests",
        "This account is already reading two long logs. Retry when one of them is done.");
  }
  if (all_ >= all_max_) {
    return Refused(503, "overloaded", "Too many long logs are being read. Retry shortly.");
  }
  ++all_;
  ++of_account_[account];
  return std::make_unique<Place>(*this, account);
}

void LogReads::Leave(const std::string& account) {
  MutexLock lock(mu_);
  --all_;
  const auto known = of_account_.find(account);
  if (--known->second == 0) of_account_.erase(known);
}

}  // namespace carillon::scheduler
