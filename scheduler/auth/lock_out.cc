#include "scheduler/auth/lock_out.h"

#include <algorithm>

namespace carillon::scheduler {
namespace {

constexpr int kDoublingsMax = 20;

Duration WaitAfter(int failures, int allowed) {
  if (failures < allowed) return Duration(0);
  const int doublings = std::min(failures - allowed, kDoublingsMax);
  return std::min<Duration>(LockOut::kWaitMax, LockOut::kFirstWait * (int64_t{1} << doublings));
}

}  // namespace

LockOut::Key LockOut::KeyOf(const std::string& account, const std::string& address,
                            SteadyTime now) const {
  const auto at = familiar_.find({account, address});
  const bool familiar = at != familiar_.end() && now - at->second < kFamiliar;
  return familiar ? at->first : Key(account, "");
}

Duration LockOut::WaitOf(const Entries& entries, const Key& key, SteadyTime now) {
  const auto it = entries.find(key);
  if (it == entries.end()) return Duration(0);
  return std::max<Duration>(Duration(0), it->second.blocked_until - now);
}

void LockOut::MakeRoom(Entries& entries, SteadyTime now) {
  if (entries.size() < kTrackedMax) return;
  std::erase_if(entries, [now](const auto& entry) {
    return now - entry.second.last >= kForgotten && now >= entry.second.blocked_until;
  });
  if (entries.size() < kTrackedMax) return;
  entries.erase(std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second.last < b.second.last;
  }));
}

void LockOut::Count(Entries& entries, const Key& key, int allowed, SteadyTime now) {
  if (!entries.contains(key)) MakeRoom(entries, now);
  Entry& entry = entries[key];
  if (now - entry.last >= kForgotten) entry = {};
  ++entry.failures;
  entry.last = now;
  entry.blocked_until = now + WaitAfter(entry.failures, allowed);
}

void LockOut::TakeBack(Entries& entries, const Key& key, int allowed) {
  const auto it = entries.find(key);
  if (it == entries.end()) return;
  Entry& entry = it->second;
  entry.failures = std::max(0, entry.failures - 1);
  entry.blocked_until = entry.last + WaitAfter(entry.failures, allowed);
}

std::optional<Duration> LockOut::Admit(const std::string& account, const std::string& address,
                                       SteadyTime now) {
  const Key key = KeyOf(account, address, now);
  const Duration wait =
      std::max(WaitOf(accounts_, key, now), WaitOf(addresses_, {"", address}, now));
  if (wait > Duration(0)) return wait;
  Count(accounts_, key, kAccountFailures, now);
  Count(addresses_, {"", address}, kAddressFailures, now);
  return std::nullopt;
}

void LockOut::Succeeded(const std::string& account, const std::string& address, SteadyTime now) {
  accounts_.erase(KeyOf(account, address, now));
  TakeBack(addresses_, {"", address}, kAddressFailures);
  const Key pair(account, address);
  if (familiar_.size() >= kTrackedMax && !familiar_.contains(pair)) {
    familiar_.erase(
        std::min_element(familiar_.begin(), familiar_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  familiar_[pair] = now;
}

void LockOut::Forgive(const std::string& account) {
  std::erase_if(accounts_, [&](const auto& entry) { return entry.first.first == account; });
}

void LockOut::Withdraw(const std::string& account, const std::string& address, SteadyTime now) {
  TakeBack(accounts_, KeyOf(account, address, now), kAccountFailures);
  TakeBack(addresses_, {"", address}, kAddressFailures);
}

bool FailureBudget::Take(SteadyTime now, int64_t& passed_over) {
  if (!refilled_) refilled_ = now;
  const int64_t more = (now - *refilled_) / kRefill;
  if (more > 0) {
    left_ = static_cast<int>(std::min<int64_t>(kBurst, left_ + more));
    *refilled_ += more * kRefill;
  }
  if (left_ == 0) {
    ++passed_over_;
    return false;
  }
  --left_;
  passed_over = passed_over_;
  passed_over_ = 0;
  return true;
}

}  // namespace carillon::scheduler
