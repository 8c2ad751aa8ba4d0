// Slows down the guessing of passwords: by account, and by address.
//
// Place    Called before a password is checked, and with the result.
// Threads  Not thread-safe; its owner guards it.
// Time     Never reads a clock. `now` comes from the caller.
// Always   Nobody is locked out for good: a wait is kWaitMax at most, and what was counted is
//          forgotten after kForgotten. At an address where an account signed in recently, only
//          failures from there count, so that others who keep guessing elsewhere do not lock the
//          owner out. At most kTrackedMax accounts, as many addresses and as many pairs are kept.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace carillon::scheduler {

class LockOut {
 public:
  static constexpr int kAccountFailures = 5;
  static constexpr int kAddressFailures = 20;
  static constexpr Duration kFirstWait = 5s;  // doubles with each further failure
  static constexpr Duration kWaitMax = 15min;
  static constexpr Duration kForgotten = 1h;
  static constexpr Duration kFamiliar =
      14 * 24h;  // of an account and an address, since it signed in
  static constexpr size_t kTrackedMax = 10'000;

  // The time to wait; nullopt: admitted. An admitted attempt counts as failed until Succeeded or
  // Withdraw is called, so that concurrent attempts are counted as well.
  std::optional<Duration> Admit(const std::string& account, const std::string& address,
                                SteadyTime now);
  void Succeeded(const std::string& account, const std::string& address, SteadyTime now);
  // Forgets the failures of this account at all addresses; the waits of addresses stay.
  void Forgive(const std::string& account);
  // The password was not checked.
  void Withdraw(const std::string& account, const std::string& address, SteadyTime now);

 private:
  struct Entry {
    int failures = 0;
    SteadyTime blocked_until{};
    SteadyTime last{};
  };
  // Account and address; one of them is empty where it does not matter.
  using Key = std::pair<std::string, std::string>;
  using Entries = std::map<Key, Entry>;

  static Duration WaitOf(const Entries& entries, const Key& key, SteadyTime now);
  static void Count(Entries& entries, const Key& key, int allowed, SteadyTime now);
  static void TakeBack(Entries& entries, const Key& key, int allowed);
  static void MakeRoom(Entries& entries, SteadyTime now);
  // The key under which failures of this account at this address are counted.
  Key KeyOf(const std::string& account, const std::string& address, SteadyTime now) const;

  Entries accounts_;                    // by KeyOf
  std::map<Key, SteadyTime> familiar_;  // and when they signed in
  Entries addresses_;
};

// Limits the failures that are audited: the first ones, then a few a minute.
//
// Threads  Not thread-safe; its owner guards it.
class FailureBudget {
 public:
  static constexpr int kBurst = 20;
  static constexpr Duration kRefill = 3s;  // one more

  // Whether to audit this one; `passed_over` is then the number of earlier ones that were not.
  bool Take(SteadyTime now, int64_t& passed_over);

 private:
  int left_ = kBurst;
  std::optional<SteadyTime> refilled_;
  int64_t passed_over_ = 0;
};

}  // namespace carillon::scheduler
