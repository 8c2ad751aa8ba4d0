// Ends of attempts that a daemon does not know: which of them it takes, and which it only confirms.
//
// Threads  Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "common/wire/messages/worker_codec.h"
#include "executor/output/secret_masker.h"
#include "executor/worker/worker_result.h"

namespace carillon::executor {

// Attempts whose results are in the database, so that only the confirmation is to be repeated.
class ForgottenTickets {
 public:
  static constexpr size_t kMax = 10'000;

  void Add(const WorkerTicket& ticket) {
    if (tickets_.insert(ticket).second) order_.push_back(ticket);
    if (order_.size() <= kMax) return;
    tickets_.erase(order_.front());
    order_.pop_front();
  }
  bool contains(const WorkerTicket& ticket) const { return tickets_.contains(ticket); }

 private:
  std::set<WorkerTicket> tickets_;
  std::deque<WorkerTicket> order_;
};

// The unknown attempts that the Hello of a worker names, at most kMax: an earlier daemon may have
// known them. The end of another unknown attempt is made up.
class UnknownEnds {
 public:
  static constexpr size_t kMax = 1024;

  // With what must not be shown of its end.
  void Add(const WorkerTicket& ticket, const WorkerHello& hello) {
    if (patterns_.size() >= kMax) return;
    const auto masked = hello.masked.find(ticket);
    patterns_[ticket] = masked == hello.masked.end() ? nullptr : PatternsOf(masked->second);
  }
  // nullopt: the Hello did not name it.
  std::optional<std::shared_ptr<const SecretPatterns>> Take(const WorkerTicket& ticket) {
    auto node = patterns_.extract(ticket);
    if (node.empty()) return std::nullopt;
    return node.mapped();
  }

 private:
  std::map<WorkerTicket, std::shared_ptr<const SecretPatterns>> patterns_;
};

}  // namespace carillon::executor
