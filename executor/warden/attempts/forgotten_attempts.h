// Remembers for a while the attempts whose ends are in the database, so that a repeated start order
// does not start one again.
//
// Threads  Not thread-safe; the attempt table owns it.
// Always   At most kMax; the oldest are dropped first.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "executor/warden/records/warden_journal.h"

namespace carillon::executor {

class ForgottenAttempts {
 public:
  static constexpr size_t kMax = 16384;

  void Add(const HeldAttempt& attempt) {
    const AttemptName name = NameOf(attempt);
    if (tokens_.insert_or_assign(name, attempt.token).second) order_.push_back(name);
    if (order_.size() <= kMax) return;
    tokens_.erase(order_.front());
    order_.pop_front();
  }
  // Token of the claim that the attempt was started under; nullopt if it is not known.
  std::optional<ClaimToken> TokenOf(const AttemptName& name) const {
    const auto found = tokens_.find(name);
    if (found == tokens_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::deque<AttemptName> order_;
  std::unordered_map<AttemptName, ClaimToken, AttemptNameHash> tokens_;
};

}  // namespace carillon::executor
