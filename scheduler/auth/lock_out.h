// Slows down the guessing of passwords, by account and by address.
//
// Place    Called before a password is verified, and called again with the outcome.
// Threads  Not thread-safe; its owner guards it.
// Time     Never reads a clock. `now` comes from the caller.
// Always   No lock-out is permanent. A wait is at most kWaitMax, and failures are forgotten after
//          kForgotten. Failures at an address from which the account signed in recently are
//          counted separately from failures at other addresses. So strangers who guess cannot lock
//          out the owner. At most kTrackedMax accounts, kTrackedMax addresses and kTrackedMax
//          pairs are kept.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace carillon::scheduler {

class LockOut {
 public:
  static constexpr int kAccountFailures = 5;   // after this many failures an account has to wait
  static constexpr int kAddressFailures = 20;  // after this many failures an address has to wait
  static constexpr Duration kFirstWait = 5s;   // doubles with each further failure
  static constexpr Duration kWaitMax = 15min;
  static constexpr Duration kForgotten = 1h;
  static constexpr Duration kFamiliar =
      14 * 24h;  // how long after a sign-in its address is familiar to the account
  static constexpr size_t kTrackedMax = 10'000;

  // Returns how long the caller has to wait; nullopt = verify the password now. An admitted attempt
  // counts as a failure until Succeeded or Withdraw is called. So concurrent attempts count too.
  std::optional<Duration> Admit(const std::string& account, const std::string& address,
                                SteadyTime now);
  void Succeeded(const std::string& account, const std::string& address, SteadyTime now);
  // Forgets the failures of this account at all addresses. The waits of addresses do not change.
  void Forgive(const std::string& account);
  // Takes back an admitted attempt that ended before the password was verified.
  void Withdraw(const std::string& account, const std::string& address, SteadyTime now);

 private:
  struct Entry {
    int failures = 0;
    SteadyTime blocked_until{};
    SteadyTime last{};
  };
  // Account and address. The address is empty if all addresses count together. The account is empty
  // if all accounts count together.
  using Key = std::pair<std::string, std::string>;
  using Entries = std::map<Key, Entry>;

  static Duration WaitOf(const Entries& entries, const Key& key, SteadyTime now);
  static void Count(Entries& entries, const Key& key, int allowed, SteadyTime now);
  static void TakeBack(Entries& entries, const Key& key, int allowed);
  static void MakeRoom(Entries& entries, SteadyTime now);
  // The key under which failures of this account at this address are counted.
  Key KeyOf(const std::string& account, const std::string& address, SteadyTime now) const;

  Entries accounts_;                    // by KeyOf
  std::map<Key, SteadyTime> familiar_;  // last sign-in of each account at each address
  Entries addresses_;
};

// Limits how many failures are recorded in the audit: a burst, then one every kRefill.
//
// Threads  Not thread-safe; its owner guards it.
class FailureBudget {
 public:
  static constexpr int kBurst = 20;
  static constexpr Duration kRefill = 3s;  // after this, one more failure may be recorded

  // True if this failure is to be recorded. `passed_over` is then set to the number of failures
  // that were not recorded since the last recorded one.
  bool Take(SteadyTime now, int64_t& passed_over);

 private:
  int left_ = kBurst;
  std::optional<SteadyTime> refilled_;
  int64_t passed_over_ = 0;
};

}  // namespace carillon::scheduler
