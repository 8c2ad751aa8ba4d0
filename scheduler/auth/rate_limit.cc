#include "scheduler/auth/rate_limit.h"

#include <algorithm>

namespace carillon::scheduler {

SteadyTime& RateLimit::PaidUntil(const std::string& who, SteadyTime now) {
  const auto known = paid_until_.find(who);
  if (known != paid_until_.end()) return known->second;
  if (paid_until_.size() >= kTrackedMax) {
    // Drops callers whose timestamp has passed. They have the full allowance, like new callers.
    std::erase_if(paid_until_, [now](const auto& entry) { return entry.second <= now; });
  }
  return paid_until_.size() < kTrackedMax ? paid_until_[who] : others_paid_until_;
}

std::optional<Duration> RateLimit::Admit(const std::string& who, SteadyTime now) {
  if (interval_ == Duration(0)) return std::nullopt;
  SteadyTime& paid_until = PaidUntil(who, now);
  const SteadyTime next = std::max(paid_until, now) + interval_;
  const Duration ahead = next - now;
  if (ahead > kBurst) return ahead - kBurst;
  paid_until = next;
  return std::nullopt;
}

}  // namespace carillon::scheduler
