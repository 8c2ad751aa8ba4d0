// The attempts whose ends the database has, for a
// while: one that is given again must not start again.
//
// Threads  Not thread-safe; the attempt table owns it.
// Always   At most kMax; the oldest go first.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "executor/warden/warden_journal.h"

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
  // Of the claim it was started under; nullopt when it is not known.
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
